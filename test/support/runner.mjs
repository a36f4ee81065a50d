// jest-light-runner in processes of their own, with one channel for each worker. Its own channel is one for all (0.8.2): the
// first worker that asks for its settings has them sent to every worker, those that cannot read them yet ask later, get no
// answer, and the run never ends.
import LightRunner from 'jest-light-runner/child-process';
import Tinypool from 'tinypool';

const run = Tinypool.prototype.run;

Tinypool.prototype.run = function runOnOwnChannel(task, { channel: shared, ...options }) {
  const channel = {
    onMessage(listener) {
      channel.listener = listener;
    },
    /** The shared channel answers those that listen, once: this worker alone, at the moment when it asks. */
    postMessage(message) {
      shared.onMessage(channel.listener);
      shared.postMessage(message);
    },
  };
  return run.call(this, task, { ...options, channel });
};

export default LightRunner;
