/** The side of a measured server that talks to run.mjs: `empty` fills its store anew, and both questions tell its CPU time. */
export function serve({ port, apiKey, fill }) {
  process.on('message', async (question) => {
    if (question === 'empty') await fill(20);
    const { user, system } = process.cpuUsage();
    process.send({ cpuUs: user + system });
  });
  process.on('disconnect', () => process.exit());
  process.send({ port, apiKey });
}
