#!/usr/bin/env node
// Loads the command only where it runs. This file has to be understood by much older versions of Node.
const [major, minor] = process.versions.node.split('.').map(Number);
if (Number(major) > 20 || (major === 20 && Number(minor) >= 19)) void import('./main.js');
else {
  process.stderr.write(
    `merchant-payments needs Node 20.19 or later. This is Node ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
}
