/** Commands beside the server, which may be killed meanwhile. */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pick } from '../../bench/seeding/random.ts'
import { countAnswer } from '../history/history.ts'
import { type Handler, pickDelivered, type Traffic } from './traffic.ts'

type Run = (traffic: Traffic, lot: number) => Promise<void>

const HELD_DOMAIN = 'slow.test'
const HOLD_MS = 4_000

const RUNS: readonly Run[] = [
  (traffic) => run(traffic, ['queue', 'list', '--json']),
  // It asks the server, which may be down.
  (traffic) => run(traffic, ['queue', 'sites'], [0, 1]),
  (traffic) => run(traffic, ['suppressions', 'list']),
  (traffic) => run(traffic, ['config', 'check'], [0, 1]),
  (traffic) => run(traffic, ['project', 'list', '--json']),
  showEmail,
  holdAndRelease,
  holdAndRelease,
  (traffic, lot) => changeEmail(traffic, 'retry', lot),
  (traffic, lot) => changeEmail(traffic, 'cancel', lot),
]

export const command: Handler = async (traffic, { number, lots }) => {
  const more: Run[] = []
  if (traffic.commands.has('backup')) more.push(() => backUp(traffic, number))
  if (traffic.commands.has('log')) {
    // It asks the server, which may be down.
    more.push(() => run(traffic, ['log', 'level', 'debug', '--for', '1m'], [0, 1]))
  }
  await pick(() => lots[0], [...RUNS, ...more])(traffic, lots[1])
}

async function showEmail(traffic: Traffic, lot: number): Promise<void> {
  const message = pickDelivered(traffic, lot)
  if (message !== undefined) await run(traffic, ['queue', 'show', message.emailId])
}

async function holdAndRelease(traffic: Traffic): Promise<void> {
  await run(traffic, ['queue', 'hold', '--domain', HELD_DOMAIN])
  await sleep(HOLD_MS)
  await run(traffic, ['queue', 'release', '--domain', HELD_DOMAIN])
}

/** Status 1 says that the email has ended, or is on its way. */
async function changeEmail(traffic: Traffic, verb: 'retry' | 'cancel', lot: number): Promise<void> {
  const ids = traffic.history.sends
    .slice(-20)
    .flatMap(({ project, ids }) => (project === 'main' ? ids : []))
  if (ids.length === 0) return
  const id = pick(() => lot, ids)
  const record = { kind: 'email' as const, id, outcome: 'unknown' as const }
  if (verb === 'cancel') traffic.history.cancellations.push(record)
  await run(traffic, ['queue', verb, id], [0, 1])
}

async function backUp(traffic: Traffic, number: number): Promise<void> {
  const file = path.join(traffic.server.folder, `backup-${number}.tar.zst`)
  await run(traffic, ['backup', file])
  await rm(file, { force: true })
}

async function run(
  { server, history }: Traffic,
  argv: readonly string[],
  expected: readonly number[] = [0],
): Promise<void> {
  const { status, stderr, stdout } = await server.command(...argv)
  countAnswer(history, `command ${status}`)
  if (expected.includes(status)) return
  const text = `${stderr} ${stdout}`.trim().slice(0, 500)
  history.surprises.push({ at: Date.now(), what: argv.join(' '), status, text })
}
