// Exports the shipped list as a module of its own, which is loaded on demand, because a bundle whose entry is JSON
// exports nothing.
import listDocument from './models.json' with { type: 'json' };

export { listDocument };
