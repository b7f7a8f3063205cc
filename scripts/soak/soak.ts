/**
 * `npm run soak -- [--minutes N] [--seed S] [--executable FILE] [--keep]`: traffic over every edge of the
 * program for N minutes (2), while the server is killed, restarted and cut off from its receivers. In
 * the end one ledger compares all that was acknowledged with the database and with what receivers saw.
 *
 * `scripts/soak/plan` has the plan, which follows from the seed; `ledger/` what is compared, and
 * `server/judge-resources.ts` the rules about memory, delays and descriptors. Exit status 1 and the story
 * of each entry if anything does not match. The folder of the run is kept then, and with --keep.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { History } from './history/history.ts'
import type { LedgerRow } from './ledger/finding.ts'
import { judge } from './ledger/judge.ts'
import { readDatabase } from './ledger/read-database.ts'
import { tellStories } from './ledger/story.ts'
import { readOptions, type SoakOptions } from './options.ts'
import { makePlan } from './plan/plan.ts'
import { type RunResult, run } from './run.ts'
import { WORKFLOW_GIVE_UP_MS } from './server/configuration.ts'
import { judgeResources } from './server/judge-resources.ts'
import { findProgram } from './server/server.ts'
import { MAX_FINDINGS, printFindings, printSummary } from './summary.ts'

const options = readOptions(process.argv.slice(2))
const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-soak-'))
process.exitCode = 1
console.log(`seed ${options.seed}, ${options.minutes} minutes, in ${folder}`)
if (await soak(options)) {
  process.exitCode = 0
  console.log(`\nThe ledger balances. Seed ${options.seed}.`)
} else {
  console.log(`\nThe ledger does not balance. Seed ${options.seed}; the folder is ${folder}`)
}
if (process.exitCode === 0 && !options.isKept) rmSync(folder, { recursive: true, force: true })

async function soak({ seed, minutes, executable }: SoakOptions): Promise<boolean> {
  const program = findProgram(executable)
  console.log(`program ${program.join(' ')}`)
  const plan = makePlan({ seed, minutes })
  const result = await run({ program, folder, seed, plan })
  keepHistory({ ...result.history, resources: result.resources })
  const rows = balance(result)
  printSummary(result.history, rows)
  const findings = rows.flatMap((row) => row.findings.slice(0, MAX_FINDINGS))
  if (findings.length === 0) return true
  const ids = [...new Set(findings.map(({ id }) => id))]
  printFindings(rows, await tellStories(result.server, result.history, ids))
  return false
}

function balance({ history, server, projects, endpointUrl, resources }: RunResult): LedgerRow[] {
  const rows = readDatabase(server.database, projects, endpointUrl)
  return [...judge(history, rows, { giveUpMs: WORKFLOW_GIVE_UP_MS }), ...judgeResources(resources)]
}

/** For a look at it afterwards; removed with the folder. */
function keepHistory(history: History & Pick<RunResult, 'resources'>): void {
  const replacer = (_: string, value: unknown) => (value instanceof Map ? [...value] : value)
  writeFileSync(path.join(folder, 'history.json'), JSON.stringify(history, replacer, 1))
}
