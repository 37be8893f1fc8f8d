// The order of search results: guides first, then the course, then what one looks up, and last the history.
// Sphinx reads `Scorer` (its own has the same numbers for titles and terms) and calls `score` for each result.
"use strict";

const WEIGHTS = [
  [/^(guides\/|quickstart|install|faq)/, 4],
  [/^(solvers\/index|gallery|course\/index)$/, 4],
  [/^course\//, 2],
  [/^(reference\/|source\/)/, 0.6],
  [/^(changelog|licences)/, 0.1],
];

var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    const weight = WEIGHTS.find(([pages]) => pages.test(page));
    return weight ? score * weight[1] : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
