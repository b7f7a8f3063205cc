/**
 * The budgets of system calls: those of `test/budgets/`, seen by strace. A difference in either direction fails, so
 * a budget that nobody lowers does not hide the next loss.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemCalls } from '../../budgets/system-call-table.ts'
import { isStraceInstalled, measureSystemCalls } from '../../budgets/system-calls.ts'

/** Data that comes from a socket in two pieces is read twice. */
const SLACK = 0.05
const LEAST_SLACK = 3

test('operations make the system calls that their budgets say', {
  skip: !isStraceInstalled() && 'strace is not installed',
}, async () => {
  const measured = await measureSystemCalls()
  assert.deepEqual([...measured.keys()].sort(), Object.keys(systemCalls).sort())
  const differences = [...measured].flatMap(([operation, calls]) =>
    compare(systemCalls[operation] ?? {}, calls).map((difference) => `${operation}: ${difference}`),
  )
  assert.equal(differences.join('\n'), '', 'npm run budgets')
})

function compare(budget: Record<string, number>, found: Record<string, number>): string[] {
  const kinds = new Set([...Object.keys(budget), ...Object.keys(found)])
  return [...kinds].flatMap((kind) => {
    const { [kind]: wanted = 0 } = budget
    const { [kind]: is = 0 } = found
    const isNear = Math.abs(is - wanted) <= Math.max(LEAST_SLACK, wanted * SLACK)
    return isNear ? [] : [`${kind}: ${is} and not ${wanted}`]
  })
}
