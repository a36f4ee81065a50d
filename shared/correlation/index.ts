export { type Correlation, type ReadCorrelation, readCorrelation } from './correlation.ts';
