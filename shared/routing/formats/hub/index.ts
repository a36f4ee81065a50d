export { callThroughHub } from './call-through-hub.ts';
export { requestsOfTask, runPackageTask } from './package-tasks.ts';
