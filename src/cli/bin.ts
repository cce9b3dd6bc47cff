#!/usr/bin/env node
// The bin loads the command if this Node can run it. Much older versions of Node must be able to parse this file.
const { node } = process.versions;
const [major, minor] = node.split('.').map(Number);
// Node 21 and the first releases of 22 have no process.getBuiltinModule(), so `engines` excludes them too.
const leastMinor = major === 20 ? 19 : major === 22 ? 3 : 0;
if (Number(major) >= 20 && major !== 21 && Number(minor) >= leastMinor)
  void import('./main.js')
    .then(({ main }) => main(process.argv.slice(2)))
    .then((code) => {
      process.exitCode = code;
    });
else {
  process.stderr.write(`merchant-payments needs Node 20.19, or 22.3 and later. This is Node ${node}.\n`);
  process.exitCode = 1;
}
