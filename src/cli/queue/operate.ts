/** The commands that change mail on its way: retry, cancel, hold, release; and the list of holds. */

import { formatInstant } from '../../clock.ts'
import { holdDomain, listHolds, releaseDomain } from '../../features/messages/queue/holds.ts'
import { cancelEmails, retryEmails } from '../../features/messages/queue/operate.ts'
import { displayDomain, parseDomain } from '../../mail/address/address.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from '../engine/command.ts'
import { escapeControls, formatTable, formatTime } from '../engine/text.ts'
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
  const domain = requireDomain(input)
  const { due, paused } = await withCore(context, (core) => releaseDomain(core, domain))
  const text = `Mail to ${describeName(domain)} is released; emails due now: ${due}.`
  const others = paused === 0 ? '' : ` Emails that wait for their paused campaigns: ${paused}.`
  return { json: { domain, emails: due, paused }, text: text + others }
}

export async function listHoldsCommand(context: CommandContext): Promise<Result> {
  const holds = await withCore(context, (core) => listHolds(core))
  const json = holds.map(({ domain, heldAt, emails }) => ({
    domain: displayDomain(domain),
    heldAt: formatInstant(heldAt),
    emails,
  }))
  const rows = holds.map(({ domain, heldAt, emails }) => [
    displayDomain(domain),
    formatTime(heldAt) ?? '',
    String(emails),
    formatCommand(['queue', 'release', '--domain', displayDomain(domain)]),
  ])
  const head = ['DOMAIN', 'SINCE', 'WAITING', 'TO RELEASE']
  return { json, text: formatTable(head, rows, 'No mail is held.') }
}

export function readDomain(input: Input, option: string, flag: string): string | undefined {
  const given = input.text(option)
  if (given === undefined) return undefined
  const domain = parseDomain(given)
  if (domain === undefined) throw new UsageError(`${flag}: expected a domain name`)
  return domain
}

function requireDomain(input: Input): string {
  return readDomain(input, 'domain', '--domain') ?? ''
}

function describeName(domain: string): string {
  return escapeControls(displayDomain(domain))
}
