export { inAskedForm } from './in-asked-form.ts';
export { failureOfAnswer, unreadableAnswer } from './read-failure.ts';
