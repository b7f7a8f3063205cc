/** The commands that change mail on its way: retry, cancel, hold, release; and the list of holds. */

import { formatInstant } from '../../clock.ts'
import { listFences, SERVER } from '../../features/fence/rows.ts'
import { holdDomain, listHolds, releaseDomain } from '../../features/messages/queue/holds.ts'
import { cancelEmails, retryEmails } from '../../features/messages/queue/operate.ts'
import { displayDomain, parseDomain } from '../../mail/address/address.ts'
import type { Fence } from '../../store/schema/fences.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from '../engine/command.ts'
import { escapeControls, formatTable, formatTime } from '../engine/text.ts'
import { releaseRestored } from '../fence.ts'
import { formatCommand } from './live.ts'

export async function retryCommand(context: CommandContext, { args }: Input): Promise<Result> {
  await withCore(context, (core) => retryEmails(core, args, { isOperator: true }))
  return { json: { ids: args }, text: `Due now: ${args.length}.` }
}

export async function cancelCommand(context: CommandContext, { args }: Input): Promise<Result> {
  await withCore(context, (core) => cancelEmails(core, args))
  return { json: { ids: args }, text: `Cancelled: ${args.length}.` }
}

export async function holdCommand(context: CommandContext, input: Input): Promise<Result> {
  const domain = requireDomain(input)
  const emails = await withCore(context, (core) => holdDomain(core, domain))
  const text = `Mail to ${describeName(domain)} is held; waiting emails held: ${emails}.`
  return { json: { domain, emails }, text }
}

export async function releaseCommand(context: CommandContext, input: Input): Promise<Result> {
  if (input.has('restored')) {
    if (input.text('domain') !== undefined)
      throw new UsageError('--domain and --restored exclude each other')
    return releaseRestored(context, input)
  }
  if (input.text('project') !== undefined) throw new UsageError('--project goes with --restored')
  const domain = requireDomain(input)
  const { due, paused } = await withCore(context, (core) => releaseDomain(core, domain))
  const text = `Mail to ${describeName(domain)} is released; emails due now: ${due}.`
  const others = paused === 0 ? '' : ` Emails that wait for their paused campaigns: ${paused}.`
  return { json: { domain, emails: due, paused }, text: text + others }
}

export async function listHoldsCommand(context: CommandContext): Promise<Result> {
  const { holds, fences } = await withCore(context, async (core) => ({
    holds: await listHolds(core),
    fences: await listFences(core.store.read),
  }))
  const ofDomains = holds.map(({ domain, heldAt, emails }) => ({
    domain: displayDomain(domain),
    heldAt: formatInstant(heldAt),
    emails,
  }))
  const ofFences = fences.map(({ projectId, setAt, generation }) => ({
    project: projectId === SERVER ? null : projectId,
    heldAt: formatInstant(setAt),
    generation,
  }))
  const rows = holds.map(({ domain, heldAt, emails }) => [
    displayDomain(domain),
    formatTime(heldAt) ?? '',
    String(emails),
    formatCommand(['queue', 'release', '--domain', displayDomain(domain)]),
  ])
  const head = ['DOMAIN', 'SINCE', 'WAITING', 'TO RELEASE']
  const table = formatTable(head, rows, fences.length === 0 ? 'No mail is held.' : '')
  const text = [table, describeFences(fences)].filter((part) => part !== '').join('\n\n')
  return { json: [...ofDomains, ...ofFences], text }
}

/** '' without fences. */
function describeFences(fences: readonly Fence[]): string {
  if (fences.length === 0) return ''
  const rows = fences.map(({ projectId, setAt }) => [
    projectId === SERVER ? 'the server itself' : projectId,
    formatTime(setAt) ?? '',
    formatCommand([
      ...['queue', 'release', '--restored'],
      ...(projectId === SERVER ? [] : ['--project', projectId]),
    ]),
  ])
  const head = ['HELD SINCE THE DATABASE WAS OLDER THAN BEFORE', 'SINCE', 'TO RELEASE']
  return formatTable(head, rows, '')
}

export function readDomain(input: Input, option: string, flag: string): string | undefined {
  const given = input.text(option)
  if (given === undefined) return undefined
  const domain = parseDomain(given)
  if (domain === undefined) throw new UsageError(`${flag}: expected a domain name`)
  return domain
}

function requireDomain(input: Input): string {
  const domain = readDomain(input, 'domain', '--domain')
  if (domain === undefined) throw new UsageError('--domain is missing')
  return domain
}

function describeName(domain: string): string {
  return escapeControls(displayDomain(domain))
}
