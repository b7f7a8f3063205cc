/**
 * The wishes of people who left: by a page, with one click, by mail, through a public contact call, or with
 * a complaint. A wish belongs to an address of a project, not to a row: it stays when the contact or the
 * email is deleted, and when the project is reset. Only a digest of the address is stored.
 *
 * A row of the kind `project` is no wish of a person: the project unsubscribed an address that a bounce had
 * unsubscribed. The row ends when anything subscribes the address.
 *
 * | what                                                            | effect on a wish             |
 * |-----------------------------------------------------------------|------------------------------|
 * | the person subscribes on a page; `subscribed: true` with the    | clears it                    |
 * | secret key or a session for one contact; `resubscribe: true`    |                              |
 * | a default of a call, an import, a bulk job, a workflow, inbound | none: the contact stays      |
 * | mail, the public key                                            | unsubscribed                 |
 *
 * A row of an import records a wish too if a column of another service says that the person left, and so does a
 * call of the project with `unsubscribed: true` for one contact. Their kind is `unknown`, because the way is not
 * known.
 */
import type { Statements } from '../../../store/database.ts'
import { addressDigest, eachOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { WishKind } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'

/** The kinds that are a person's own; `project` does not count as a wish. */
export const isOwnWish = sql`kind <> 'project'`

const isReplaced = sql`(wishes.kind = 'project' and excluded.kind <> 'project')`

/**
 * A person's wish replaces the project's. A second wish of the person changes nothing, except that
 * it names the project if the first wish named none.
 */
const keepFirst = sql`on conflict (digest) do update set
    kind = case when ${isReplaced} then excluded.kind else wishes.kind end,
    at = case when ${isReplaced} then excluded.at else wishes.at end,
    project_id = coalesce(wishes.project_id, excluded.project_id)
  where ${isReplaced} or (wishes.project_id is null and excluded.project_id is not null)`

const contactDigest = addressDigest(sql`project_id`, sql`email`)

const insertWish = statement(
  () => sql`insert into wishes (digest, project_id, kind, at) values (
    ${addressDigest(parameter('projectId'), parameter('address'))}, ${parameter('projectId')},
    ${parameter('kind')}, ${parameter('at')}) ${keepFirst}`,
)

const insertDigest = statement(
  () => sql`insert into wishes (digest, project_id, kind, at) values (
    ${parameter('digest')}, ${parameter('projectId')}, ${parameter('kind')}, ${parameter('at')})
    ${keepFirst}`,
)

const insertOfContact = statement(
  () => sql`insert into wishes (digest, project_id, kind, at)
    select ${contactDigest}, project_id, ${parameter('kind')}, ${parameter('at')}
    from contacts where id = ${parameter('contactId')} ${keepFirst}`,
)

/** `where true` tells the conflict clause from a join. */
export const insertWishes = statement(
  () => sql`insert into wishes (digest, project_id, kind, at)
    select ${addressDigest(parameter('projectId'), sql`value`)}, ${parameter('projectId')},
      ${parameter('kind')}, ${parameter('at')}
    from ${eachOf(parameter('addresses'))} where true ${keepFirst}`,
)

/** Only for an address that the server suppressed for its bounces. */
const insertOfProject = statement(
  () => sql`insert into wishes (digest, project_id, kind, at)
    select ${contactDigest}, project_id, 'project', ${parameter('at')}
    from contacts where id = ${parameter('contactId')} and exists (select 1 from suppressions
      where suppressions.project_id = contacts.project_id and suppressions.email = contacts.email
        and suppressions.reason in ('HARD_BOUNCE', 'STRIKES'))
    on conflict (digest) do nothing`,
)

const deleteWish = statement(
  () => sql`delete from wishes
    where digest = ${addressDigest(parameter('projectId'), parameter('address'))}`,
)

const deleteDigest = statement(() => sql`delete from wishes where digest = ${parameter('digest')}`)

const deleteOfContact = statement(
  () => sql`delete from wishes where digest = (select ${contactDigest} from contacts
    where id = ${parameter('contactId')})`,
)

const isOfProject = sql`kind = 'project'`

const deleteOfProject = statement(
  () => sql`delete from wishes where ${isOfProject}
    and digest = ${addressDigest(parameter('projectId'), parameter('address'))}`,
)

const deleteOfProjectByContact = statement(
  () => sql`delete from wishes where ${isOfProject} and digest = (select ${contactDigest}
    from contacts where id = ${parameter('contactId')})`,
)

const findAny = statement<{ kind: WishKind }>(
  () => sql`select kind from wishes
    where digest = ${addressDigest(parameter('projectId'), parameter('address'))}`,
)

const findByDigest = statement<{ kind: WishKind }>(
  () => sql`select kind from wishes where digest = ${parameter('digest')}`,
)

const selectNewest = statement<{ at: number | null }>(
  () => sql`select max(at) as at from wishes where ${isOwnWish}`,
)

type AddressKey = { projectId: string; address: string }
type Wish = { kind: Exclude<WishKind, 'project'>; at: number }

/** Records that the owner of an address left. */
export async function recordWish(tx: Tx, wish: AddressKey & Wish): Promise<void> {
  await tx.execute(insertWish, wish)
}

/** Records that the owner of a contact's present address left. */
export async function recordWishOfContact(
  tx: Tx,
  wish: { contactId: string } & Wish,
): Promise<void> {
  await tx.execute(insertOfContact, wish)
}

/** Records in one statement that the owners of addresses left. */
export async function recordWishes(
  tx: Tx,
  { addresses, ...wish }: { projectId: string; addresses: readonly string[] } & Wish,
): Promise<void> {
  await tx.execute(insertWishes, { ...wish, addresses: JSON.stringify(addresses) })
}

/**
 * Records that the project unsubscribed a contact that a bounce had unsubscribed already, because
 * undoing the suppression must not subscribe the contact again.
 */
export async function recordWishOfProject(
  tx: Tx,
  wish: { contactId: string; at: number },
): Promise<void> {
  await tx.execute(insertOfProject, wish)
}

/** The project subscribes the address again: its own decision ends, a person's stays. */
export async function endWishOfProject(tx: Tx, key: AddressKey): Promise<void> {
  await tx.execute(deleteOfProject, key)
}

export async function endWishOfProjectForContact(tx: Tx, contactId: string): Promise<void> {
  await tx.execute(deleteOfProjectByContact, { contactId })
}

/**
 * Records a wish for the digest of an address. Returns whether the digest had no wish of a person
 * before. `projectId`: null if it is not known.
 */
export async function recordDigest(
  tx: Tx,
  wish: { digest: Buffer; projectId: string | null } & Wish,
): Promise<boolean> {
  return (await tx.execute(insertDigest, wish)) === 1
}

/** Deletes the wish for the digest of an address. Returns whether there was one. */
export async function clearDigest(tx: Tx, digest: Buffer): Promise<boolean> {
  return (await tx.execute(deleteDigest, { digest })) === 1
}

/**
 * Whether the wishes fit `subscribed` already: if true, no address has a wish of a person; if
 * false, every address has one.
 */
export async function isMatchedBy(
  reader: Pick<Statements, 'find'>,
  { digests, subscribed }: { digests: readonly Buffer[]; subscribed: boolean },
): Promise<boolean> {
  let count = 0
  for (const digest of digests) {
    const kind = (await reader.find(findByDigest, { digest }))?.kind ?? 'project'
    if (kind !== 'project') count += 1
  }
  return subscribed ? count === 0 : count === digests.length
}

export async function clearWish(tx: Tx, key: AddressKey): Promise<void> {
  await tx.execute(deleteWish, key)
}

export async function clearWishOfContact(tx: Tx, contactId: string): Promise<void> {
  await tx.execute(deleteOfContact, { contactId })
}

/** Whether the owner of the address left. */
export async function hasLeft(tx: Pick<Tx, 'find'>, key: AddressKey): Promise<boolean> {
  const found = await tx.find(findAny, { projectId: key.projectId, address: key.address })
  return found !== undefined && found.kind !== 'project'
}

/** Whether anybody, the person or the project, asked that the address be unsubscribed. */
export async function isLeaving(tx: Tx, key: AddressKey): Promise<boolean> {
  return (await tx.find(findAny, key)) !== undefined
}

/** Finds when a person of any project left last; null if nobody did. */
export async function findNewestWish({ store }: Pick<Base, 'store'>): Promise<number | null> {
  return (await store.scan.find(selectNewest))?.at ?? null
}
