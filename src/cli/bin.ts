#!/usr/bin/env node
// Loads the command only where it runs. This file has to be understood by much older versions of Node.
const { node } = process.versions;
const [major, minor] = node.split('.').map(Number);
// As `engines` says: 21 and the first of 22 have no process.getBuiltinModule().
const leastMinor = major === 20 ? 19 : major === 22 ? 3 : 0;
if (Number(major) >= 20 && major !== 21 && Number(minor) >= leastMinor) void import('./main.js');
else {
  process.stderr.write(`merchant-payments needs Node 20.19, or 22.3 and later. This is Node ${node}.\n`);
  process.exitCode = 1;
}
