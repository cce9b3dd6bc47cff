import tracer from 'dd-trace';

globalThis.trace = (run) => tracer.trace('worker', run);
