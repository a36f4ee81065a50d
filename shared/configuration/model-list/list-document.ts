// The shipped list as a module of its own, which is loaded on demand: a bundle whose entry is JSON exports nothing.
import listDocument from './models.json' with { type: 'json' };

export { listDocument };
