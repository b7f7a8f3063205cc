/** Loads the emails on a page of the feed, rendered for readers. */
import type { MessageContent } from '../../../formats/compose/message-content.ts'
import { listOf } from '../../../store/dialect.ts'
import { inArray, sql } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { contents, type Email, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import type { EventEmail } from '../../ground/events/email-data.ts'
import { toReceivedData } from '../../ground/events/received-content.ts'
import {
  type LoadedEmail,
  loadEmails,
  loadTexts,
  toRenderSource,
} from '../../mail/messages/delivery/source.ts'
import {
  explainEmails,
  findLiveStateForProject,
} from '../../mail/messages/explain/explain-emails.ts'
import { EXPLAINED_COLUMNS, type Explanation } from '../../mail/messages/explain/facts.ts'
import { findWorkflowOrigins } from '../../mail/messages/explain/workflow-origin.ts'
import type { Throttle } from '../../mail/messages/queue/throttle.ts'

/**
 * Characters of rendered texts after which one call stops loading emails; the first email may have
 * more.
 */
const MAX_LENGTH = 2 * 1024 * 1024
/**
 * Emails whose contents are loaded at once. They are rendered one by one, because even a short
 * template may print ten million characters.
 */
const LOADED_AT_ONCE = 4

export type FeedDeps = Pick<Base, 'store' | 'config' | 'keyring' | 'outbound' | 'now'> & {
  throttle: Throttle
}

/**
 * `subject`: the subject that the recipient received. `body`: the HTML or, without HTML, the text.
 * `text`: the plain text of received mail. `body` and `text` are null once retention has cleared
 * them, and undefined in a summary.
 */
export type ShownEmail = EventEmail &
  Omit<Explanation, 'command'> &
  Pick<Email, 'replyTo' | 'toName' | 'error' | 'state' | 'status' | 'templateFaults'> & {
    body: string | null | undefined
    text: string | null | undefined
    /** The name of the campaign; null for other mail, and once the campaign is deleted. */
    campaignName: string | null
    /** The name of the workflow; null for other mail, and once the workflow is deleted. */
    workflowName: string | null
  }

type EmailText = { subject: string; body: string | null; text: string | null }

const stateColumns = {
  ...EXPLAINED_COLUMNS,
  templateFaults: emails.templateFaults,
  openedAt: emails.openedAt,
  clickedAt: emails.clickedAt,
}

const listPlainTexts = statement((db) =>
  db
    .select({ id: contents.id, text: contents.text })
    .from(contents)
    .where(
      sql`${contents.id} in ${listOf(parameter('ids'))}
        and ${contents.text} is not null`,
    ),
)

/**
 * `unread`: the ids of the last emails, which were not loaded because the texts of the emails
 * before them are long.
 */
type ShownEmails = { shown: Map<string, ShownEmail>; unread: ReadonlySet<string> }

/**
 * Returns the emails by id; deleted emails are omitted. `repeatedIds` may contain an id twice. A
 * summary has no bodies, so nothing is rendered for it.
 */
export async function loadShownEmails(
  deps: FeedDeps,
  repeatedIds: readonly string[],
  { isSummary }: { isSummary: boolean },
): Promise<ShownEmails> {
  const ids = [...new Set(repeatedIds)]
  const places = new Map(ids.map((id, index) => [id, index]))
  const found = await loadEmails(deps, ids)
  const placeOf = ({ id }: LoadedEmail) => places.get(id) ?? 0
  const all = found.toSorted((one, other) => placeOf(one) - placeOf(other))
  const { texts, count } = isSummary
    ? { texts: NO_TEXTS, count: all.length }
    : await findTexts(deps, all)
  const loaded = all.slice(0, count)
  const unread = new Set(all.slice(count).map(({ id }) => id))
  const absent = isSummary ? undefined : null
  const noBodies = { body: absent, text: absent }
  const rows = await deps.store.read
    .select(stateColumns)
    .from(emails)
    .where(inArray(emails.id, ids))
    .all()
  const names = await findCampaignNames(deps, loaded)
  const origins = await findWorkflowOrigins(deps.store.read, loaded)
  const explained = await explainEmails(deps, rows, findLiveStateForProject(deps))
  const byId = new Map(loaded.map((email) => [email.id, email]))
  const shown = new Map(
    rows.flatMap((row): [string, ShownEmail][] => {
      const email = byId.get(row.id)
      if (email === undefined) return []
      const text = texts.get(row.id) ?? { subject: email.subject, ...noBodies }
      const why = explained.get(row.id)
      if (why === undefined) return []
      const { command, ...explanation } = why
      const campaignName = names.get(email.campaignId ?? '') ?? null
      const workflowName = origins.get(row.id)?.name ?? null
      const named = { campaignName, workflowName }
      return [[row.id, { ...email, ...row, ...text, ...explanation, ...named }]]
    }),
  )
  return { shown, unread }
}

async function findCampaignNames(
  { store }: FeedDeps,
  loaded: readonly LoadedEmail[],
): Promise<Map<string, string>> {
  const ids = [...new Set(loaded.flatMap(({ campaignId }) => campaignId ?? []))]
  if (ids.length === 0) return new Map()
  const { id, name } = campaigns
  const rows = await store.read.select({ id, name }).from(campaigns).where(inArray(id, ids))
  return new Map(rows.map((campaign) => [campaign.id, campaign.name]))
}

const NO_TEXTS: ReadonlyMap<string, EmailText> = new Map()

/**
 * Returns the texts of the first emails, and their number (`count`). Once the texts together have
 * MAX_LENGTH characters, no further email is read.
 */
async function findTexts(
  deps: FeedDeps,
  loaded: readonly LoadedEmail[],
): Promise<{ texts: ReadonlyMap<string, EmailText>; count: number }> {
  const texts = new Map<string, EmailText>()
  let length = 0
  let count = 0
  for (let from = 0; from < loaded.length; from += LOADED_AT_ONCE) {
    const some = loaded.slice(from, from + LOADED_AT_ONCE)
    const readText = await loadForReading(deps, some)
    for (const email of some) {
      if (length >= MAX_LENGTH) return { texts, count }
      const text = await readText(email)
      count += 1
      if (text === undefined) continue
      texts.set(email.id, text)
      length += (text.body?.length ?? 0) + (text.text?.length ?? 0)
    }
  }
  return { texts, count }
}

/**
 * Returns a function that reads the text of one of these emails; the text is undefined if it no
 * longer exists.
 */
async function loadForReading(
  deps: FeedDeps,
  loaded: readonly LoadedEmail[],
): Promise<(email: LoadedEmail) => Promise<EmailText | undefined>> {
  // Retention clears the snapshots of emails. Without its snapshot, an email would be rendered with
  // wrong values.
  const whole = loaded.filter((email) => isInbound(email) || email.variables !== null)
  const contents = await loadTexts(
    deps,
    whole.map((email) => email.contentId),
  )
  const plain = await findPlainTexts(deps, whole.filter(isInbound))
  return async (email) => {
    const content = whole.includes(email) ? contents.get(email.contentId) : undefined
    if (content === undefined) return undefined
    if (!isInbound(email)) return renderSent(deps, { email, content })
    // The text of received mail is no template and is not rendered.
    const received = { ...content, text: plain.get(email.contentId) ?? null }
    return { subject: email.subject, ...toReceivedData(received) }
  }
}

/** Returns the plain texts of received mail that has HTML, by the id of the content. */
async function findPlainTexts(
  { store }: FeedDeps,
  received: readonly LoadedEmail[],
): Promise<ReadonlyMap<string, string | null>> {
  if (received.length === 0) return new Map()
  const ids = JSON.stringify(received.map(({ contentId }) => contentId))
  const rows = await store.scan.list(listPlainTexts, { ids })
  return new Map(rows.map(({ id, text }) => [id, text]))
}

async function renderSent(
  deps: FeedDeps,
  { email, content }: { email: LoadedEmail; content: MessageContent },
): Promise<EmailText | undefined> {
  const { projectName: name, language, postalAddress } = email
  const project = { name, language, postalAddress }
  const [message] = await deps.outbound.preview([toRenderSource(deps, { email, project, content })])
  if (message === undefined || message === null) return undefined
  return { subject: message.subject, body: message.html ?? message.text ?? null, text: null }
}

function isInbound({ sourceType }: LoadedEmail): boolean {
  return sourceType === 'INBOUND'
}
