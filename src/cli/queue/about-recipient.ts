/**
 * Describes the recipient of `queue list --to`: suppressions, contacts and other emails, beside the
 * emails of the list.
 */
import { operand } from '../../config/shell-word.ts'
import type { OpenCore } from '../../core/open-core.ts'
import {
  listQueue,
  type QueuedEmail,
  type QueueSelection,
} from '../../features/mail/messages/queue/queue-list.ts'
import {
  findSuppressed,
  type SuppressedAddress,
} from '../../features/mail/suppressions/suppressions.ts'
import {
  type ContactOfAddress,
  findByAddress,
} from '../../features/people/contacts/read/find-contact.ts'
import { hasLeft } from '../../features/people/wishes/wishes.ts'
import type { CommandContext } from '../engine/command.ts'
import { formatCommand } from '../engine/command-line.ts'
import { escapeControls, formatTime, shorten } from '../engine/text.ts'

type Deps = Pick<OpenCore, 'store'>
type ConfigPath = CommandContext['configPath']

/** `projectId`: the project that `--project` selects; undefined: all projects. */
type Selected = { recipient: string } & Pick<QueueSelection, 'projectId'>

type AboutRecipient = Selected & {
  suppressed: readonly SuppressedAddress[]
  /** Emails to the recipient that the other options exclude; 0 if the list is not empty. */
  others: number
  contacts: readonly ContactOfAddress[]
}

const MAX_REASON = 160
const MAX_OTHERS = 1_000
const LEFT_OUT =
  'campaigns leave the address out, unless their type is TRANSACTIONAL, and other marketing mail is not sent to it'

/** Reads the facts about the recipient. `listed`: the emails to the recipient in the list. */
export async function findAboutRecipient(
  deps: Deps,
  selected: Selected,
  listed: readonly QueuedEmail[],
): Promise<AboutRecipient> {
  const { recipient } = selected
  const others =
    listed.length > 0 ? 0 : (await listQueue(deps, { recipient, limit: MAX_OTHERS })).length
  const contacts = await findContacts(deps, selected, listed)
  return { ...selected, others, contacts, suppressed: await findSuppressed(deps, recipient) }
}

/** Returns the paragraphs on the recipient. */
export function describeRecipient(
  about: AboutRecipient,
  listed: readonly QueuedEmail[],
  configPath: ConfigPath,
): string[] {
  const lists = describeSuppressed(about, listed, configPath)
  const [newest] = listed
  if (newest === undefined) return [...lists, ...describeNone(about, configPath)]
  const command = formatCommand(['queue', 'show', newest.id], configPath)
  return [...lists, ...describeContacts(about.contacts), `To see the history of one: ${command}`]
}

/**
 * Finds the recipient's contacts in the selected projects. If the list has emails, only contacts
 * who left (unsubscribed themselves or complained) are returned: other unsubscribed contacts get
 * transactional mail alone, and the list shows that mail.
 */
async function findContacts(
  deps: Deps,
  { recipient, projectId }: Selected,
  listed: readonly QueuedEmail[],
): Promise<ContactOfAddress[]> {
  const all = await findByAddress(deps, recipient)
  const asked = all.filter((one) => projectId === undefined || one.projectId === projectId)
  if (listed.length === 0) return asked
  const left: ContactOfAddress[] = []
  for (const contact of asked) {
    const key = { projectId: contact.projectId, address: recipient }
    if (!contact.subscribed && (await hasLeft(deps.store.read, key))) left.push(contact)
  }
  return left
}

/**
 * Returns one paragraph for each suppression list that has the address, unless a listed email shows
 * this suppression.
 */
function describeSuppressed(
  { recipient, suppressed }: AboutRecipient,
  listed: readonly QueuedEmail[],
  configPath: ConfigPath,
): string[] {
  const address = escapeControls(recipient)
  const isListed = ({ projectId }: SuppressedAddress) =>
    listed.some((email) => email.projectId === projectId && email.state === 'suppressed')
  const unlisted = suppressed.filter((one) => !isListed(one))
  return unlisted.map(({ projectId, reason, source, createdAt }) => {
    const command = ['suppressions', 'remove', '--project', projectId, ...operand(recipient)]
    const why = escapeControls(shorten(source, MAX_REASON))
    return [
      `${address} has been on the suppression list of project ${projectId} since ${formatTime(createdAt)}`,
      `(${reason}: ${why}), so the project sends nothing to it. To change that: ${formatCommand(command, configPath)}`,
    ].join(' ')
  })
}

function describeNone(
  { recipient, others, contacts, projectId }: AboutRecipient,
  configPath: ConfigPath,
): string[] {
  const address = escapeControls(recipient)
  const described = describeContacts(contacts)
  if (others > 0) {
    const count = others === MAX_OTHERS ? `at least ${others}` : others
    const command = formatCommand(['queue', 'list', '--to', recipient], configPath)
    return [
      `No email to ${address} is in this selection, but others are there (${count}): ${command}`,
      ...described,
    ]
  }
  const none = `There is no email to ${address}: none was accepted, or an earlier contact of this address was deleted.`
  if (described.length > 0) return [none, ...described]
  const nowhere = projectId === undefined ? 'No project has a' : `The project ${projectId} has no`
  return [`${none} ${nowhere} contact of this address.`]
}

/** Returns one paragraph with a line for each contact; no paragraph without contacts. */
function describeContacts(contacts: readonly ContactOfAddress[]): string[] {
  const lines = contacts.map(({ projectId, projectName, subscribed }) => {
    const where = `In the project ${escapeControls(projectName)} (${projectId}) the contact is`
    return subscribed ? `${where} subscribed.` : `${where} unsubscribed: ${LEFT_OUT}.`
  })
  return lines.length === 0 ? [] : [lines.join('\n')]
}
