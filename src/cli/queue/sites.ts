/** `queue sites`: the sites of the running server, and `--lift`, which ends a back-off. */
import { formatInstant, formatOptionalInstant } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import type { OpenCore } from '../../core/open-core.ts'
import {
  bringForward,
  listWaitingDomains,
} from '../../features/mail/messages/queue/bring-forward.ts'
import {
  limitedUntil,
  opennessOf,
  type SiteOpenness,
} from '../../features/mail/messages/queue/site-openness.ts'
import type { AnswerOf } from '../../features/operation/questions/answer.ts'
import { askServer } from '../../features/operation/questions/ask.ts'
import { parseDomain } from '../../formats/address/address.ts'
import { type CommandContext, type Input, type Result, withCore } from '../engine/command.ts'
import { escapeControls, formatTable, formatTime, shorten } from '../engine/text.ts'

type Sites = AnswerOf<'sites'>
type Site = Sites['sites'][number]

const NO_SERVER =
  'No server runs on this database, and only a running server has sites and back-offs.'
const NO_ANSWER = 'The server did not answer within 2 s.'
const MAX_REPLY = 200
const STATE_WORDS: Record<SiteOpenness, string> = {
  open: 'open',
  slowed: 'slowed',
  closed: 'back-off',
}

export async function sitesCommand(context: CommandContext, input: Input): Promise<Result> {
  const given = input.text('lift')
  return withCore(context, (core) => (given === undefined ? list(core) : lift(core, given)))
}

async function list(core: OpenCore): Promise<Result> {
  const asked = await askServer(core, { kind: 'sites', question: {} })
  if (asked.server === 'silent') throw serverSilent()
  if (asked.server === 'none') return { json: [], text: NO_SERVER }
  const { sites, left } = asked.answer
  const rows = formatTable(
    COLUMNS,
    sites.map(toRow),
    'No mail has been sent since the server started.',
  )
  const more = left === 0 ? [] : [`And ${left} more.`]
  return { json: sites.map(toJson), text: [rows, ...more].join('\n\n') }
}

const COLUMNS = [
  'SITE',
  'CONNECTIONS',
  'ON THE WAY',
  'RATE',
  'STATE',
  'LIMITED',
  'SINCE',
  'UNTIL',
  'REPLY',
]

function toRow(site: Site): string[] {
  const { connections, maxConnections, messagesPerMinute, inFlight, cause } = site
  return [
    site.site,
    `${connections} reserved of ${maxConnections}`,
    String(inFlight),
    messagesPerMinute === null ? 'unlimited' : `${messagesPerMinute} a minute`,
    STATE_WORDS[opennessOf(site)],
    site.limited ?? '-',
    formatTime(site.restrictedSince) ?? '-',
    formatTime(limitedUntil(site)) ?? '-',
    cause === null ? '-' : shorten(cause.text, MAX_REPLY),
  ]
}

function toJson(site: Site) {
  const { cause, rateUntil, restrictedSince, blockedUntil } = site
  return {
    ...site,
    rateUntil: formatOptionalInstant(rateUntil),
    restrictedSince: formatOptionalInstant(restrictedSince),
    blockedUntil: formatOptionalInstant(blockedUntil),
    cause: cause === null ? null : { at: formatInstant(cause.at), text: cause.text },
  }
}

/**
 * Ends the back-off of a site, given by its name or by a domain whose mail goes to it. The emails
 * that wait for it are due at once.
 */
async function lift(core: OpenCore, given: string): Promise<Result> {
  const site = parseDomain(given) ?? given.trim().toLowerCase()
  const domains = await listWaitingDomains(core)
  const asked = await askServer(core, { kind: 'lift', question: { site, domains } })
  if (asked.server === 'silent') throw serverSilent()
  if (asked.server === 'none') {
    return { json: { site, lifted: false, emails: 0 }, text: `Nothing to lift. ${NO_SERVER}` }
  }
  const { answer } = asked
  if (!answer.isKnown) {
    throw new AppError('RESOURCE_NOT_FOUND', `The running server has no site ${site}.`, {
      suggestion: 'To list the sites: pillarbox queue sites',
      details: { resource: 'site', id: site },
    })
  }
  const name = escapeControls(answer.site)
  if (!answer.isLifted) {
    const json = { site: answer.site, lifted: false, emails: 0 }
    return { json, text: `Nothing to lift: ${name} is not restricted.` }
  }
  await bringForward(core, answer.domains)
  const emails = answer.waiting
  const waited =
    emails === 1 ? '1 email that waited for it is' : `${emails} emails that waited for it are`
  const text = `The restriction of ${name} is lifted; ${waited} due now.`
  return { json: { site: answer.site, lifted: true, emails }, text }
}

function serverSilent(): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', NO_ANSWER)
}
