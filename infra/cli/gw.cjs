#!/usr/bin/env node
// The program of the package: loads the file that every script of a clone loads first, then the command line.
'use strict';

require('./require-node.cjs');

// Processes that this one starts load the file too.
process.execArgv.push('--require', require.resolve('./require-node.cjs'));

void import('./main.mjs');
