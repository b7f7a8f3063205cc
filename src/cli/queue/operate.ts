/** The commands that change mail on its way: retry, cancel, hold, release; and the list of holds. */

import { formatInstant } from '../../base/clock.ts'
import { listFences, SERVER } from '../../features/ground/fence/rows.ts'
import {
  listPausedProjects,
  type PausedProject,
} from '../../features/mail/messages/disabled/mail-fate.ts'
import {
  holdDomain,
  listHolds,
  listHoldsOf,
  releaseDomain,
} from '../../features/mail/messages/queue/holds.ts'
import { cancelEmails, retryEmails } from '../../features/mail/messages/queue/operate.ts'
import { displayDomain, parseDomain } from '../../formats/address/address.ts'
import type { Fence } from '../../store/schema/fences.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from '../engine/command.ts'
import { formatCommand } from '../engine/command-line.ts'
import { escapeControls, formatTable, formatTime, shorten } from '../engine/text.ts'
import { releaseRestoredCommand } from '../fence.ts'

const MAX_NAME = 40

export async function retryCommand(context: CommandContext, { args }: Input): Promise<Result> {
  const held = await withCore(context, async (core) => {
    await retryEmails(core, args, { isOperator: true })
    return listHoldsOf(core, args)
  })
  const heldEmails = held.reduce((sum, { emails }) => sum + emails, 0)
  const due = new Set(args).size - heldEmails
  const lines = held.map(({ domain, emails }) => {
    const name = displayDomain(domain)
    const release = formatCommand(['queue', 'release', '--domain', name], context.configPath)
    return `Held, because mail to ${escapeControls(name)} is held: ${emails}. To release it: ${release}`
  })
  return {
    json: { ids: args, held: heldEmails },
    text: [`Due now: ${due}.`, ...lines].join('\n'),
  }
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
    return releaseRestoredCommand(context, input)
  }
  if (input.text('project') !== undefined) throw new UsageError('--project goes with --restored')
  const domain = requireDomain(input)
  const { due, paused, isHeld, holds } = await withCore(context, async (core) => ({
    ...(await releaseDomain(core, domain)),
    holds: await listHolds(core),
  }))
  // Fails if no mail is held, due or paused: the domain is probably misspelt. Repeating a release
  // whose mail is still due does not fail.
  if (!isHeld && due + paused === 0) {
    const held = holds.map((hold) => displayDomain(hold.domain)).join(', ')
    const text = `Mail to ${describeName(domain)} is not held; held: ${held === '' ? 'none' : held}.`
    return { json: { domain, emails: 0, paused: 0 }, text, isFailed: true }
  }
  const text = `Mail to ${describeName(domain)} is released; emails due now: ${due}.`
  const others = paused === 0 ? '' : ` Emails that wait for their paused campaigns: ${paused}.`
  return { json: { domain, emails: due, paused }, text: text + others }
}

export async function listHoldsCommand(context: CommandContext): Promise<Result> {
  const { holds, disabled, fences } = await withCore(context, async (core) => ({
    holds: await listHolds(core),
    disabled: await listPausedProjects(core),
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
  const { configPath } = context
  const ofDisabled = disabled.map(({ projectId, disabledAt, emails, endsAt }) => ({
    project: projectId,
    heldAt: formatInstant(disabledAt),
    emails,
    failsAt: formatInstant(endsAt),
  }))
  const rows = holds.map(({ domain, heldAt, emails }) => [
    displayDomain(domain),
    formatTime(heldAt) ?? '',
    String(emails),
    formatCommand(['queue', 'release', '--domain', displayDomain(domain)], configPath),
  ])
  const head = ['DOMAIN', 'SINCE', 'WAITING', 'TO RELEASE']
  const tables = [
    formatTable(head, rows, ''),
    describeDisabled(disabled, context),
    describeFences(fences, context),
  ]
  const text = tables.filter((part) => part !== '').join('\n\n')
  return {
    json: [...ofDomains, ...ofDisabled, ...ofFences],
    text: text === '' ? 'No mail is held.' : text,
  }
}

/** The table of disabled projects whose mail waits; '' if there are none. */
function describeDisabled(
  disabled: readonly PausedProject[],
  { configPath }: Pick<CommandContext, 'configPath'>,
): string {
  const rows = disabled.map(({ projectId, name, disabledAt, emails, endsAt }) => [
    `${projectId} ${shorten(name, MAX_NAME)}`,
    formatTime(disabledAt) ?? '',
    String(emails),
    formatTime(endsAt) ?? '',
    formatCommand(['project', 'update', projectId, '--enable'], configPath),
  ])
  const head = ['PROJECT DISABLED FOR ITS REPUTATION', 'SINCE', 'WAITING', 'FAILS AT', 'TO RELEASE']
  return formatTable(head, rows, '')
}

/** The table of fences; '' if there are none. */
function describeFences(fences: readonly Fence[], { configPath }: CommandContext): string {
  if (fences.length === 0) return ''
  const rows = fences.map(({ projectId, setAt }) => [
    projectId === SERVER ? 'the server itself' : projectId,
    formatTime(setAt) ?? '',
    formatCommand(
      [
        ...['queue', 'release', '--restored'],
        ...(projectId === SERVER ? [] : ['--project', projectId]),
      ],
      configPath,
    ),
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
