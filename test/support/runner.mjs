// Runs jest-light-runner in separate processes, with one channel for each worker. Its own channel is shared (0.8.2):
// when the first worker requests its settings, they are sent to every worker; workers that cannot read them yet request
// them later, get no answer, and the run never ends.
import LightRunner from 'jest-light-runner/child-process';
import Tinypool from 'tinypool';

const run = Tinypool.prototype.run;

Tinypool.prototype.run = function runOnOwnChannel(task, { channel: shared, ...options }) {
  const channel = {
    onMessage(listener) {
      channel.listener = listener;
    },
    /** The shared channel answers all listeners once: this one answers only this worker, when it asks. */
    postMessage(message) {
      shared.onMessage(channel.listener);
      shared.postMessage(message);
    },
  };
  return run.call(this, task, { ...options, channel });
};

export default LightRunner;
