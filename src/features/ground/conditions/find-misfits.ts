/**
 * Finds what may surprise the author of a condition: filters that cannot judge the values of some
 * contacts, lists that are searched by element, fields and events that no contact has, mail that
 * does not count.
 */
import { formatInstant, parseZoneless } from '../../../base/clock.ts'
import type { MessageFinding } from '../../../formats/compose/message-findings.ts'
import type { OperatorOf } from '../../../records/operators.ts'
import { jsonType } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { events } from '../../../store/schema/events.ts'
import type { CampaignStatus } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../base.ts'
import { isAutomaticRow, RECEIVED } from './automatic-mail.ts'
import { findUnasked } from './compile.ts'
import { type Condition, listFilters, listReferences } from './condition.ts'
import { isUnfit } from './data-fit.ts'
import { type ConditionField, parseConditionField } from './field.ts'
import { shortenForError } from './field-errors.ts'
import type { Filter } from './filter.ts'
import { findUnknownFields } from './unknown-fields.ts'

type Deps = Pick<Base, 'store' | 'now'>
type MisfitsInput = { projectId: string; condition: Condition; ofSegmentId?: string }
type Misfits = { filter: Filter; unfit: number; lists: number }

/**
 * The most filters on data for which contacts are counted (in one walk over the contacts). Also the
 * most names that are looked up.
 */
const MAX_FILTERS = 20
const LISTS_ARE_VALUES: readonly string[] = ['contains', 'notContains', 'in', 'notIn']
const COMES_LATER = 'Nothing, if it comes later; else correct the name.'

const findEvent = statement<{ found: number }>(
  () => sql`select 1 as found from events
    where project_id = ${parameter('projectId')} and name = ${parameter('name')} limit 1`,
)

const findCampaign = statement<{ name: string; status: CampaignStatus; sent: number | null }>(
  () => sql`select name, status, sent_count as sent from campaigns
    left join campaign_progress on campaign_id = id
    where id = ${parameter('id')} and campaigns.project_id = ${parameter('projectId')}`,
)

/**
 * Looks at the filters of the condition itself, not at those of segments.
 * @throws AppError BAD_REQUEST as `compileCondition`
 */
export async function findMisfits(deps: Deps, input: MisfitsInput): Promise<MessageFinding[]> {
  const { projectId, condition } = input
  const filters = [...listFilters(condition)]
  const counted = await countMisfits(deps, projectId, filters)
  const unknown = await findUnknownNames(deps, projectId, filters)
  return [
    ...counted.flatMap(findUnanswered),
    ...(await findUnasked(deps, input)).slice(0, MAX_FILTERS).map(unasked),
    ...unknown,
    ...(await findUnsentCampaigns(deps, projectId, condition)),
    ...counted.flatMap(findLists),
    ...filters.flatMap(findZoneless).slice(0, MAX_FILTERS),
    ...(await findLeftOutMail(deps, projectId, filters)),
  ]
}

/**
 * Reports times without a zone. A date without a time is no finding, because operators on days use
 * UTC days.
 */
function findZoneless(filter: Filter): MessageFinding[] {
  const { value } = filter
  if (parseConditionField(filter)?.kind !== 'instant' || typeof value !== 'string') return []
  const time = parseZoneless(value)
  if (time === undefined || time.isDay) return []
  const message = `The value of ${nameOf(filter)} has no time zone, so it means ${formatInstant(time.at)}, in UTC.`
  const fix = 'Write Z at the end for UTC, or an offset such as +01:00.'
  return [{ code: 'filter_without_zone', severity: 'info', message, fix }]
}

function unasked(name: string): MessageFinding {
  const message =
    `For which contacts the segment "${shortenForError(name)}" has no answer is not asked, because the ` +
    'conditions of the segments are too large together. They count as outside of it.'
  const fix = 'Use fewer or smaller segments with notMemberOfSegment.'
  return { code: 'filter_unasked', severity: 'warning', message, fix }
}

async function findLeftOutMail(
  { store }: Deps,
  projectId: string,
  filters: readonly Filter[],
): Promise<MessageFinding[]> {
  const filter = filters.find((one) => isOnReceived(parseConditionField(one)))
  if (filter === undefined) return []
  const [[count = 0] = []] = await store.scan.values<[number]>(
    sql`select count(distinct ${events.contactId}) from ${events}
      where ${events.projectId} = ${projectId} and ${events.name} = ${RECEIVED} and ${isAutomaticRow}`,
  )
  if (count === 0) return []
  const have = count === 1 ? 'has' : 'have'
  const message =
    `${nameOf(filter)} means mail of a person. ${contactsText(count)} ${have} mail that a machine seems to have sent, ` +
    'which does not count.'
  const fix = 'Nothing, if people are meant.'
  return [{ code: 'filter_leaves_out_mail', severity: 'info', message, fix }]
}

function isOnReceived(field: ConditionField | undefined): boolean {
  return field?.kind === 'event' && field.name === RECEIVED
}

async function countMisfits(
  { store }: Deps,
  projectId: string,
  filters: readonly Filter[],
): Promise<Misfits[]> {
  const onData = filters.flatMap((filter) => {
    const field = parseConditionField(filter)
    return field?.kind === 'data' ? [{ filter, key: field.key }] : []
  })
  const some = distinct(onData).slice(0, MAX_FILTERS)
  if (some.length === 0) return []
  const sums = some.flatMap(({ filter, key }) => sumsOf(key, filter))
  const [row = []] = await store.scan.values<(number | null)[]>(
    sql`select ${sql.join(sums, sql`, `)} from ${contacts}
      where ${contacts.projectId} = ${projectId}`,
  )
  return some.map(({ filter }, index) => ({
    filter,
    unfit: row[2 * index] ?? 0,
    lists: row[2 * index + 1] ?? 0,
  }))
}

function distinct<Entry extends { filter: Filter }>(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [JSON.stringify(entry.filter), entry])).values()]
}

function sumsOf(key: string, { operator, value }: Filter): [SQL, SQL] {
  const unfit = isUnfit({ key, operator: operator as OperatorOf<'data'>, value })
  const isSearched = LISTS_ARE_VALUES.includes(operator)
  return [
    unfit === undefined ? sql`0` : sql`sum(${unfit})`,
    isSearched ? sql`sum(${jsonType(contacts.data, key)} = 'array')` : sql`0`,
  ]
}

function findUnanswered({ filter, unfit }: Misfits): MessageFinding[] {
  if (unfit === 0) return []
  const message =
    `For ${contactsText(unfit)} there is no answer to ${nameOf(filter)}, because their value has another ` +
    'type. They are not selected.'
  const fix = 'Correct the values, or add a group with a filter that fits them.'
  return [{ code: 'filter_unanswered', severity: 'warning', message, fix }]
}

function findLists({ filter, lists }: Misfits): MessageFinding[] {
  if (lists === 0) return []
  const have = lists === 1 ? 'has' : 'have'
  const message = `${contactsText(lists)} ${have} a list there, which ${nameOf(filter)} searches by element.`
  const fix = 'Nothing, if whole elements are meant.'
  return [{ code: 'filter_searches_lists', severity: 'info', message, fix }]
}

function nameOf({ field, operator }: Filter): string {
  return `${shortenForError(field)} ${operator}`
}

function contactsText(count: number): string {
  return count === 1 ? '1 contact' : `${count} contacts`
}

/**
 * Finds campaigns that have sent no email yet, so that a filter on their emails selects nobody or
 * everybody.
 */
export async function findUnsentCampaigns(
  { store }: Pick<Deps, 'store'>,
  projectId: string,
  condition: Condition,
): Promise<MessageFinding[]> {
  const findings: MessageFinding[] = []
  for (const id of listReferences(condition).campaigns.slice(0, MAX_FILTERS)) {
    const found = await store.read.find(findCampaign, { projectId, id })
    if ((found?.sent ?? 0) > 0) continue
    const which = found === undefined ? id : `"${shortenForError(found.name)}"`
    const state = found === undefined ? 'does not exist' : unsentState(found.status)
    const isOver = found === undefined || found.status === 'CANCELLED' || found.status === 'SENT'
    findings.push({
      code: 'filter_unsent_campaign',
      severity: 'warning',
      message: `The campaign ${which} ${state}, so nobody has its email: \`triggered\` selects nobody, \`notTriggered\` everybody.`,
      fix: isOver
        ? 'Choose another campaign.'
        : 'Nothing, if it is sent later; else choose another campaign.',
    })
  }
  return findings
}

function unsentState(status: CampaignStatus): string {
  if (status === 'DRAFT' || status === 'SCHEDULED') return 'has not been sent'
  return status === 'CANCELLED'
    ? 'was cancelled before it sent anything'
    : 'has sent nothing so far'
}

async function findUnknownNames(
  { store }: Deps,
  projectId: string,
  filters: readonly Filter[],
): Promise<MessageFinding[]> {
  const findings = new Map<string, MessageFinding>()
  for (const filter of filters) {
    const field = parseConditionField(filter)
    const name = shortenForError(filter.field)
    if (findings.has(name) || findings.size >= MAX_FILTERS) continue
    if (field?.kind === 'event' && !field.name.startsWith('email.')) {
      const found = await store.read.find(findEvent, { projectId, name: field.name })
      const effect = filter.operator.startsWith('not') ? 'everybody' : 'nobody'
      if (found === undefined) findings.set(name, missing('event', field.name, effect))
    }
  }
  for (const { name, effect, meant } of await findUnknownFields({ store }, projectId, filters)) {
    const finding = missing('field', name, effect)
    const hint = meant === undefined ? '' : `Did you mean ${meant}? `
    findings.set(name, { ...finding, fix: hint + finding.fix })
  }
  return [...findings.values()].slice(0, MAX_FILTERS)
}

function missing(kind: 'event' | 'field', name: string, effect: string): MessageFinding {
  return {
    code: 'filter_unknown_name',
    severity: 'warning',
    message: `The ${kind} ${shortenForError(name)} does not exist, so its filter selects ${effect}.`,
    fix: COMES_LATER,
  }
}
