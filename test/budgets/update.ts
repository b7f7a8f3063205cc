/**
 * `node test/budgets/update.ts`: measures, says what differs from `table.ts`, and writes the table anew, and with
 * strace that of the system calls. Whoever commits a budget that rose says why.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Budget, toBudget } from './budget.ts'
import { compare } from './compare.ts'
import { measureAll } from './measure.ts'
import { isStraceInstalled, measureSystemCalls } from './system-calls.ts'
import { budgets } from './table.ts'

const header = `/**
 * What each operation may cost. \`budgets.test.ts\` compares it with what it costs; \`update.ts\` writes it.
 * A budget is lowered in the commit that makes the operation cheaper.
 */
import type { Budget } from './budget.ts'

export const budgets: Record<string, Budget> = `

const systemCallHeader = `/**
 * The system calls of the operations of \`table.ts\`, by kind. \`test/interop/process/system-calls.test.ts\` compares
 * it; \`update.ts\` writes it.
 */
export const systemCalls: Record<string, Record<string, number>> = `

const table: Record<string, Budget> = {}
for (const [name, { count, measured }] of await measureAll()) {
  const found = toBudget(count, measured)
  const known = budgets[name]
  const differences = known === undefined ? ['new'] : compare(known, found, measured)
  for (const difference of differences) console.log(`${name}: ${difference}`)
  table[name] = found
}
write('table.ts', header, table)
if (isStraceInstalled()) {
  write('system-call-table.ts', systemCallHeader, Object.fromEntries(await measureSystemCalls()))
}

function write(name: string, start: string, content: object): void {
  const file = path.join(import.meta.dirname, name)
  writeFileSync(file, `${start}${JSON.stringify(content, null, 2)}\n`)
  console.log(`wrote ${file}: format it with "npm run format"`)
}
