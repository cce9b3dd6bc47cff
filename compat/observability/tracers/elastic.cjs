const agent = require('elastic-apm-node');

globalThis.trace = async (run) => {
  const transaction = agent.startTransaction('worker');
  await run();
  transaction.end();
};
