/**
 * The look-ups that every request and every delivery repeats: projects by key, sender domains with
 * their signing keys, templates, the domains that an operator holds, stopped campaigns, and fences.
 *
 * Missing rows and disabled projects are not cached, so a refusal always comes from the database.
 * Writers in this process call `drop` after their commit. A write by another process empties the
 * cache (`Store.onExternalChange`), so commands take effect on a running server.
 */
import { hash } from 'node:crypto'
import { AppError, notFound } from '../../base/errors.ts'
import { createLru } from '../../base/lru.ts'
import type { Keyring } from '../../config/keyring.ts'
import type { SigningKey } from '../../formats/compose/dkim.ts'
import { isActiveCampaign, unfinishedCampaigns } from '../../store/campaign-terms.ts'
import { and, eq, isNull, sql } from '../../store/drizzle.ts'
import { type Project, projects } from '../../store/schema/accounts.ts'
import { campaigns } from '../../store/schema/campaigns.ts'
import { type Domain, domains } from '../../store/schema/domains.ts'
import { fences } from '../../store/schema/fences.ts'
import { holds, type Template, templates } from '../../store/schema/messages.ts'
import { statement } from '../../store/statement.ts'
import type { Store } from '../../store/store.ts'

/** A domain that its project may send from. */
export type SenderDomain = {
  id: string
  domain: string
  /** The RSA key, and the Ed25519 key once its record has been found or the domain is trusted. */
  signingKeys: readonly SigningKey[]
  isReturnPathFound: boolean
}

/** The state of stopped campaigns by their ids. */
export type StoppedCampaigns = ReadonlyMap<string, 'paused' | 'cancelled'>

export type UnsettledFence = {
  /** Mail that was accepted up to this instant (epoch ms) is put aside. */
  mailUntil: number
  /** The ids of campaigns that are being sent: mail of these is not put aside. */
  sending: ReadonlySet<string>
}

export type Directory = {
  /** `digest`: `digestSecret` of the secret key. */
  findProjectByDigest(digest: string): Promise<Project | undefined>
  findProjectByPublicKey(publicKey: string): Promise<Project | undefined>
  findProject(id: string): Promise<Project | undefined>
  /** `domain` in A-label form; undefined unless it is verified for this project. */
  findSenderDomain(projectId: string, domain: string): Promise<SenderDomain | undefined>
  /** The project that has verified `domain` (A-labels), if the domain's MX is this server. */
  findMailboxDomain(domain: string): Promise<{ projectId: string } | undefined>
  /** Whether any project has verified `domain` (A-labels). */
  isVerifiedDomain(domain: string): Promise<boolean>
  findTemplate(projectId: string, id: string): Promise<Template | undefined>
  /** Recipient domains that an operator holds (A-labels). */
  heldDomains(): Promise<ReadonlySet<string>>
  /**
   * The stopped campaigns, whose mail must not go out now. A cancelled campaign is there while it
   * has mail.
   */
  stoppedCampaigns(): Promise<StoppedCampaigns>
  /** The fences, by project, behind which the server is still putting mail aside. */
  unsettledFences(): Promise<ReadonlyMap<string, UnsettledFence>>
  /** Empties the cache; writers of these rows call it by `Tx.afterCommit`. */
  drop(): void
  /** Calls `fn` after each `drop`. Returns a function that removes `fn`. */
  onDrop(fn: () => void): () => void
}

const listStoppedCampaigns = statement<{ id: string; stop: 'paused' | 'cancelled' }>(
  () => sql`select id, 'paused' as stop from campaigns
    where ${isActiveCampaign} and status = 'SENDING' and paused_at is not null
    union all select id, 'cancelled' from campaigns
    where id in ${unfinishedCampaigns} and status = 'CANCELLED'`,
)

const MAX_CACHED_BYTES = 32 * 1024 * 1024
/** A smaller entry counts as this many bytes, so the cache has at most 8,192 entries. */
const MIN_CACHED_BYTES = 4_096

export function createDirectory({ store, keyring }: { store: Store; keyring: Keyring }): Directory {
  const { cached, drop, onDrop } = createCache()
  const findProjectWhere = (condition: ReturnType<typeof eq>) =>
    store.read
      .select()
      .from(projects)
      .where(and(condition, isNull(projects.deletedAt)))
      .get()

  const findVerified = (domain: string) =>
    cached(`verified ${domain}`, () => readVerifiedDomain(store, domain))

  return {
    findProjectByDigest: (digest) =>
      cached(`secret ${digest}`, () => findProjectWhere(eq(projects.secretDigest, digest))),
    findProjectByPublicKey: (publicKey) =>
      cached(`public ${publicKey}`, () => findProjectWhere(eq(projects.publicKey, publicKey))),
    findProject: (id) => cached(`project ${id}`, () => findProjectWhere(eq(projects.id, id))),
    findSenderDomain: (projectId, domain) =>
      cached(`domain ${projectId} ${domain}`, async () => {
        const row = await readDomain(store, projectId, domain)
        return row?.isVerified ? toSenderDomain(row, keyring) : undefined
      }),
    findMailboxDomain: (domain) =>
      cached(`mailboxes ${domain}`, async () => {
        const row = await readVerifiedDomain(store, domain)
        return row?.isMxFound || row?.isTrusted ? { projectId: row.projectId } : undefined
      }),
    isVerifiedDomain: async (domain) => (await findVerified(domain)) !== undefined,
    findTemplate: (projectId, id) =>
      cached(`template ${projectId} ${id}`, () => readTemplate(store, projectId, id)),
    heldDomains: () =>
      cached('held', async () => {
        const rows = await store.read.select({ domain: holds.domain }).from(holds).all()
        return new Set(rows.map((row) => row.domain))
      }),
    stoppedCampaigns: () => cached('stopped', () => readStoppedCampaigns(store)),
    unsettledFences: () => cached('fences', () => readUnsettledFences(store)),
    drop,
    onDrop,
  }
}

/** Returns the digest of a secret key, as the database stores it. */
export function digestSecret(secretKey: string): string {
  return hash('sha256', secretKey)
}

/** Makes a bounded cache. The result of a look-up during which `drop` is called is not kept. */
function createCache() {
  const known = createLru<object>(MAX_CACHED_BYTES, {
    sizeOf: (value) => Math.max(MIN_CACHED_BYTES, sizeOf(value)),
  })
  const listeners = new Set<() => void>()
  let generation = 0
  function cached<T extends object | undefined>(key: string, load: () => Promise<T>): Promise<T> {
    const hit = known.get(key)
    return hit === undefined ? readOnce(key, load) : Promise.resolve(hit as T)
  }
  async function readOnce<T extends object | undefined>(
    key: string,
    load: () => Promise<T>,
  ): Promise<T> {
    const asOf = generation
    const found = await load()
    const isRefusal = found === undefined || ('isDisabled' in found && found.isDisabled === true)
    if (!isRefusal && asOf === generation) known.set(key, found)
    return found
  }
  function drop(): void {
    generation += 1
    known.clear()
    for (const listener of listeners) listener()
  }
  function onDrop(fn: () => void): () => void {
    listeners.add(fn)
    return () => listeners.delete(fn)
  }
  return { cached, drop, onDrop }
}

/** Returns the approximate bytes of an entry; only texts are long. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 32 + 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  const parts = value instanceof Set || value instanceof Map ? [...value] : Object.values(value)
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), 64)
}

function readDomain(store: Store, projectId: string, domain: string) {
  const condition = and(eq(domains.projectId, projectId), eq(domains.domain, domain))
  return store.read.select().from(domains).where(condition).get()
}

function readVerifiedDomain(store: Store, domain: string) {
  const { projectId, isMxFound, isTrusted } = domains
  const condition = and(eq(domains.domain, domain), eq(domains.isVerified, true))
  return store.read.select({ projectId, isMxFound, isTrusted }).from(domains).where(condition).get()
}

function readTemplate(store: Store, projectId: string, id: string) {
  const condition = and(eq(templates.projectId, projectId), eq(templates.id, id))
  return store.read.select().from(templates).where(condition).get()
}

async function readStoppedCampaigns(store: Store): Promise<Map<string, 'paused' | 'cancelled'>> {
  const rows = await store.read.list(listStoppedCampaigns)
  return new Map(rows.map(({ id, stop }) => [id, stop]))
}

async function readUnsettledFences(store: Store): Promise<Map<string, UnsettledFence>> {
  const rows = await store.read
    .select({ projectId: fences.projectId, mailUntil: fences.mailUntil })
    .from(fences)
    .where(eq(fences.isSettled, false))
  if (rows.length === 0) return new Map()
  const found = await store.read
    .select({ id: campaigns.id })
    .from(campaigns)
    .where(and(isActiveCampaign, eq(campaigns.status, 'SENDING')))
  const sending = new Set(found.map(({ id }) => id))
  return new Map(rows.map(({ projectId, mailUntil }) => [projectId, { mailUntil, sending }]))
}

function toSenderDomain(row: Domain, keyring: Keyring): SenderDomain {
  const rsa: SigningKey = {
    domain: row.domain,
    selector: row.rsaSelector,
    algorithm: 'rsa-sha256',
    privateKey: keyring.unseal(row.rsaPrivateKey),
  }
  const ed25519: SigningKey = {
    domain: row.domain,
    selector: row.ed25519Selector,
    algorithm: 'ed25519-sha256',
    privateKey: keyring.unseal(row.ed25519PrivateKey),
  }
  const signsWithBoth = row.isTrusted || row.isEd25519Found
  return {
    id: row.id,
    domain: row.domain,
    signingKeys: signsWithBoth ? [rsa, ed25519] : [rsa],
    isReturnPathFound: row.isReturnPathFound,
  }
}

export function projectNotFound(id: string): AppError {
  return notFound('project', id, 'No project has this id.')
}

/**
 * The error for a disabled project. After a failed payment the error says how to pay, because
 * paying enables the project again.
 */
export function projectDisabled(project?: Pick<Project, 'disabledReason'>): AppError {
  const text = 'This project is disabled.'
  if (project?.disabledReason !== 'PAYMENT_FAILED') return new AppError('PROJECT_DISABLED', text)
  return new AppError('PROJECT_DISABLED', text, {
    suggestion:
      'A payment failed. Pay the invoice: GET /users/@me/projects/:id/billing-invoices has its address.',
  })
}
