// Runs on the path of metrics: a distribution reaches any one of the tasks, whose counts say nothing about the others.
const refusal = { status: 404, error: 'not_found', message: 'The metrics of a task are read at its own address.' };

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it.
function handler(event) {
  return answer(refusal, event);
}
