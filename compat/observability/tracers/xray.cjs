const xray = require('aws-xray-sdk-core');

xray.captureHTTPsGlobal(require('node:http'));
globalThis.trace = (run) => {
  const segment = new xray.Segment('worker');
  const namespace = xray.getNamespace();
  return namespace.runPromise(() => {
    xray.setSegment(segment);
    return run();
  });
};
