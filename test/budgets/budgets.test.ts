/**
 * The whole program, counted: `table.ts` has what each operation may cost in statements, rows, pages, B-trees,
 * commits, memory and messages. A difference in either direction fails and says what to do.
 */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { toBudget } from './budget.ts'
import { compare } from './compare.ts'
import { measureAll, type Results } from './measure.ts'
import { operations } from './operations.ts'
import { budgets } from './table.ts'

describe('budgets', () => {
  let results: Results

  before(async () => {
    results = await measureAll()
  })

  for (const { name } of operations) {
    it(`${name} costs what its budget says`, () => {
      const result = results.get(name)
      const budget = budgets[name]
      assert.ok(result && budget, 'node test/budgets/update.ts')
      const { count, measured } = result
      const differences = compare(budget, toBudget(count, measured), measured)
      assert.equal(differences.join('\n'), '')
    })
  }

  it('has no budget of an operation that is gone', () => {
    assert.deepEqual(Object.keys(budgets).sort(), operations.map(({ name }) => name).sort())
  })
})
