export { interfaceList, type ListedInterface } from './interface-list.ts';
export * from './pages.ts';
