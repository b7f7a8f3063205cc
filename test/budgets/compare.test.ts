/** What a difference from a budget says. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Budget } from './budget.ts'
import { compare } from './compare.ts'
import { uniteTrees } from './opened-trees.ts'

const budget: Budget = {
  ...{ count: 100, statements: { 'insert emails': 100, commit: 4 }, rowsChanged: 300, commits: 4 },
  opened: { 'insert emails': ['emails', 'emails_ready'] },
  ...{ pages: { emails: 8 }, allocatedKilobytes: 1_000 },
  messages: { 'to a thread: work': 4 },
}
const explained: Parameters<typeof compare>[2] = {
  texts: { 'select holds': ['select "domain"\n  from "holds"'] },
  allocatedBy: ['9 KB planEmails src/plan.ts:1'],
  messages: { 'to a thread: work': 4, 'from a thread: results': 30 },
}
/** Without results, whose number is not exact. */
const alone = { ...explained, messages: { 'to a thread: work': 4 } }
const differences = (change: Partial<Budget>, found = explained) =>
  compare(budget, { ...budget, ...change }, found)

it('a budget that is met says nothing, and small differences of memory do not count', () => {
  assert.deepEqual(differences({}), [])
  assert.deepEqual(differences({ allocatedKilobytes: 1_020 }, alone), [])
  assert.deepEqual(differences({ allocatedKilobytes: 1_100 }), [])
})

it('a statement that is new is named, with its text', () => {
  assert.deepEqual(differences({ statements: { ...budget.statements, 'select holds': 100 } }), [
    'statements, select holds: 100, new\n    select "domain" from "holds"',
  ])
})

it('messages are counted, and results come together', () => {
  assert.deepEqual(differences({ messages: { 'to a thread: work': 5 } }), [
    'messages, to a thread: work: 5, more than 4',
  ])
  const apart = { ...explained, messages: { 'from a thread: results': 51 } }
  assert.deepEqual(differences({}, apart), [
    'messages, from a thread: results: 51 of 100, more than 50',
  ])
})

it('more of a statement, a row, a page, a B-tree, a commit or memory fails and is named', () => {
  assert.deepEqual(differences({ statements: { 'insert emails': 101, commit: 4 } }), [
    'statements, insert emails: 101, more than 100',
  ])
  assert.deepEqual(differences({ rowsChanged: 301, commits: 5 }), [
    'rows changed, those of triggers included, all: 301, more than 300',
    'commits, all: 5, more than 4',
  ])
  assert.deepEqual(differences({ pages: { emails: 8, emails_new: 3 } }), [
    'pages of the log, emails_new: 3, new',
  ])
  assert.deepEqual(
    differences({ opened: { 'insert emails': ['emails', 'emails_new', 'emails_ready'] } }),
    ['B-trees opened for writing by insert emails, emails_new: 1, new'],
  )
  assert.deepEqual(differences({ allocatedKilobytes: 1_160 }).length, 1)
  assert.deepEqual(differences({ allocatedKilobytes: 1_040 }, alone), [
    'allocated: 1040 KB, more than 1000 and 3%:\n    9 KB planEmails src/plan.ts:1',
  ])
})

it('less fails, too, and asks for a lower budget', () => {
  assert.deepEqual(differences({ statements: { 'insert emails': 4, commit: 4 } }), [
    'statements, insert emails: 4; lower the budget of 100 to 4',
  ])
  assert.deepEqual(differences({ allocatedKilobytes: 900 }, alone), [
    'allocated: 900 KB; lower the budget of 1000 KB to 900',
  ])
  assert.deepEqual(differences({ opened: { 'insert emails': ['emails'] } }), [
    'B-trees opened for writing by insert emails, emails_ready: 0; lower the budget of 1 to 0',
  ])
})

it('statements of one name have the trees of all of them', () => {
  assert.deepEqual(uniteTrees([], ['b', 'a', 'a']), ['a', 'a', 'b'])
  assert.deepEqual(uniteTrees(['a', 'b'], ['a', 'a', 'c']), ['a', 'a', 'b', 'c'])
})
