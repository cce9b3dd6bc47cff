const newrelic = require('newrelic');

globalThis.trace = (run) => newrelic.startBackgroundTransaction('worker', run);
