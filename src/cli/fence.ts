/** `fence` and the release of fenced mail. */
import { nativeBindingPath } from '../config/addon.ts'
import { fenceDatabase } from '../features/operation/recovery/fence-database.ts'
import { type FencedCounts, releaseFences } from '../features/operation/recovery/release.ts'
import { isServed } from '../store/files/is-served.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  withCore,
  withCoreAsIs,
} from './engine/command.ts'
import { formatCommand } from './engine/command-line.ts'

const NAMES: Readonly<Record<keyof FencedCounts, string>> = {
  emails: 'emails outside campaigns',
  campaigns: 'campaigns',
  executions: 'executions of workflows',
  schedules: 'schedules of workflows',
  webhooks: 'webhooks',
  meteringBatches: 'batches for Stripe',
  jobs: 'jobs',
  received: 'received messages',
}

export async function fenceCommand(context: CommandContext): Promise<Result> {
  const { generation, held } = await withCoreAsIs(context, (core) => {
    const { dataDir, database } = core.config
    const isAlone = !isServed(database.file, nativeBindingPath(dataDir))
    return fenceDatabase(core, { cause: 'command', isAlone })
  })
  const text = [
    `Generation ${generation}. Held: ${formatFenced(held)}.`,
    'All sessions, invitations and links for one use have ended; keys and links in mail work.',
    `To let it go out: ${formatCommand(['queue', 'release', '--restored'], context.configPath)} [--project <id>]`,
  ]
  return { json: { generation, held }, text: text.join('\n') }
}

export async function releaseRestoredCommand(
  context: CommandContext,
  input: Input,
): Promise<Result> {
  const projectId = input.text('project')?.trim().toLowerCase()
  const released = await withCore(context, (core) => releaseFences(core, { projectId }))
  return { json: { released }, text: `Released: ${formatFenced(released)}.` }
}

/** Formats the counts that are not zero, such as `emails outside campaigns: 3, campaigns: 1`. */
export function formatFenced(counts: FencedCounts): string {
  const names = Object.keys(NAMES) as (keyof FencedCounts)[]
  const parts = names.filter((name) => counts[name] > 0)
  if (parts.length === 0) return 'nothing'
  return parts.map((name) => `${NAMES[name]}: ${counts[name]}`).join(', ')
}
