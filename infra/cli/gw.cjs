#!/usr/bin/env node
// The program of the package: what every script of a clone loads first, then the command line.
'use strict';

require('./require-node.cjs');

// Processes that this one starts load it too.
process.execArgv.push('--require', require.resolve('./require-node.cjs'));

void import('./main.mjs');
