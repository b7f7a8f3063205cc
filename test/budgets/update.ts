/**
 * `node test/budgets/update.ts`: measures, says what differs from `table.ts`, and writes the table anew. Whoever
 * commits a budget that rose says why.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Budget, toBudget } from './budget.ts'
import { compare } from './compare.ts'
import { measureAll } from './measure.ts'
import { budgets } from './table.ts'

const header = `/**
 * What each operation may cost. \`budgets.test.ts\` compares it with what it costs; \`update.ts\` writes it.
 * A budget is lowered in the commit that makes the operation cheaper.
 */
import type { Budget } from './budget.ts'

export const budgets: Record<string, Budget> = `

const table: Record<string, Budget> = {}
for (const [name, { count, measured }] of await measureAll()) {
  const found = toBudget(count, measured)
  const known = budgets[name]
  const differences = known === undefined ? ['new'] : compare(known, found, measured)
  for (const difference of differences) console.log(`${name}: ${difference}`)
  table[name] = found
}
const file = path.join(import.meta.dirname, 'table.ts')
writeFileSync(file, `${header}${JSON.stringify(table, null, 2)}\n`)
console.log(`wrote ${file}: format it with "npm run format"`)
