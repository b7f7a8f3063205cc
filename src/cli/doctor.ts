/**
 * `doctor`: makes the running server check itself, and prints each fault with its fix. If no server
 * runs, or the server does not answer, the command itself makes the checks that need no server.
 * Exit status 1 if a check has failed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { formatInstant } from '../base/clock.ts'
import type { OpenCore } from '../core/open-core.ts'
import { findLastBackup } from '../features/operation/backup/record.ts'
import type { CheckResult } from '../features/operation/doctor/check.ts'
import { checkDatabase } from '../features/operation/doctor/machine.ts'
import {
  type CheckRun,
  runWithoutServer,
  worstOf,
} from '../features/operation/doctor/run-checks.ts'
import { askServer } from '../features/operation/questions/ask.ts'
import { type CommandContext, type Input, type Result, withCore } from './engine/command.ts'
import { escapeControls, formatTable, shorten } from './engine/text.ts'

type Made = { run: CheckRun; by: 'server' | 'command'; note: string | null }

const POLL_MS = 250
/**
 * Milliseconds to wait for the server's checks. A run ends within a minute, but an earlier run may
 * have to end first.
 */
const MAX_WAIT_MS = 150_000
const MAX_SHOWN = 100

const NOTES = {
  none: 'No server runs: this command made the checks that need none.',
  silent: 'The server does not answer: this command made the checks that do not need it.',
}

export async function doctorCommand(context: CommandContext, input: Input): Promise<Result> {
  const { made, checks } = await withCore(context, async (core) => {
    const made = await makeChecks(core)
    const full = input.has('full') ? [checkDatabase(core)] : []
    return { made, checks: [...made.run.checks, ...full] }
  })
  const { startedAt, finishedAt } = made.run
  const json = {
    status: worstOf({ checks }),
    by: made.by,
    startedAt: formatInstant(startedAt),
    finishedAt: formatInstant(finishedAt),
    checks,
  }
  const notes = made.note === null ? [] : [made.note]
  const text = [
    ...notes,
    formatRows(checks),
    ...checks.flatMap((check) => formatFault(check, context)),
  ].join('\n\n')
  return { json, text, isFailed: json.status === 'failed' }
}

async function makeChecks(core: OpenCore): Promise<Made> {
  const asked = await waitForServer(core)
  if (typeof asked !== 'string') return { run: asked, by: 'server', note: null }
  return {
    run: await runWithoutServer({ ...core, findLastBackup: () => findLastBackup(core) }),
    by: 'command',
    note: NOTES[asked],
  }
}

/** Returns the run that the server began after this call, or why the server has none. */
async function waitForServer(core: OpenCore): Promise<CheckRun | 'none' | 'silent'> {
  const since = core.now()
  const giveUpAt = performance.now() + MAX_WAIT_MS
  for (;;) {
    const asked = await askServer(core, { kind: 'checks', question: { since } })
    if (asked.server !== 'running') return asked.server
    if (asked.answer.run !== null) return asked.answer.run
    if (performance.now() > giveUpAt) return 'silent'
    await sleep(POLL_MS)
  }
}

function formatRows(checks: readonly CheckResult[]): string {
  const rows = checks.map(({ id, status, evidence }) => [status, id, shorten(evidence, MAX_SHOWN)])
  return formatTable(['STATUS', 'CHECK', 'SEEN'], rows, '')
}

function formatFault(
  { id, status, evidence, fix }: CheckResult,
  { typed }: Pick<CommandContext, 'typed'>,
): string[] {
  if (status === 'ok' || status === 'skipped') return []
  const fixes = (fix ?? '').split('\n').map((line) => `    ${typed(escapeControls(line))}`)
  const head = `${id}: ${status}\n  ${escapeControls(evidence)}`
  return [fix === null ? head : [head, '  to repair it:', ...fixes].join('\n')]
}
