/**
 * The first start without configuration: creates a user, a project and a trusted domain, so that a
 * first email can be sent at once. This happens only in sandbox mode, in an empty database, and while
 * the API listens on loopback. The rows are marked as sandbox rows, because credentials that were
 * printed on a terminal must not work on a server that delivers mail (`authenticate`,
 * `sandboxLeftovers`).
 */
import type { Config } from '../../../../config/config.ts'
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import { isLoopback } from '../../../../outbound/routing/addresses.ts'
import { and, eq, isNull } from '../../../../store/drizzle.ts'
import { projects, users } from '../../../../store/schema/accounts.ts'
import { domains } from '../../../../store/schema/domains.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { insertDomain } from '../../../mail/domains/domains.ts'
import { makeDomainKeys } from '../../../mail/domains/keys.ts'
import { hashPassword, makePassword } from '../passwords/passwords.ts'
import { insertUser } from '../users/users.ts'
import { makeKeys } from './keys.ts'
import { insertProject } from './projects.ts'

/** The introduction that is printed; it has secrets only at the first start. */
export type SandboxWelcome = { domain: string; project: { id: string; name: string } } & (
  | {
      kind: 'created'
      user: { address: string; password: string }
      keys: { public: string; secret: string }
    }
  | { kind: 'existing' }
)

type SandboxLeftovers = {
  users: { id: string; address: string }[]
  projects: { id: string; name: string }[]
}

type SandboxDeps = Pick<Base, 'store' | 'config' | 'keyring' | 'now'>

const SANDBOX_DOMAIN = 'example.test'
/** The sender that is ready in the sandbox. */
export const SANDBOX_SENDER: ParsedAddress = {
  address: `hello@${SANDBOX_DOMAIN}`,
  localPart: 'hello',
  domain: SANDBOX_DOMAIN,
  wire: `hello@${SANDBOX_DOMAIN}`,
  needsSmtputf8: false,
}
const USER_ADDRESS = `admin@${SANDBOX_DOMAIN}`
const PROJECT_NAME = 'Sandbox'

/**
 * Prepares the sandbox. Returns null in other modes, on public addresses, and in databases without
 * a sandbox project.
 */
export async function prepareSandbox(deps: SandboxDeps): Promise<SandboxWelcome | null> {
  if (deps.config.delivery.mode !== 'sandbox') return null
  if (await isEmpty(deps.store.read)) {
    const created = isOnLoopback(deps.config) ? await createSandbox(deps) : null
    if (created !== null) return created
  }
  return findSandbox(deps)
}

/**
 * Finds users and projects whose credentials were made by the sandbox; other modes refuse these.
 */
export async function sandboxLeftovers({ store }: Pick<Base, 'store'>): Promise<SandboxLeftovers> {
  return {
    users: await store.read
      .select({ id: users.id, address: users.address })
      .from(users)
      .where(eq(users.isSandbox, true)),
    projects: await store.read
      .select({ id: projects.id, name: projects.name })
      .from(projects)
      .where(eq(projects.areKeysSandbox, true)),
  }
}

/**
 * Creates the rows of the sandbox. Returns null if another process has already filled the database.
 */
async function createSandbox(deps: SandboxDeps): Promise<SandboxWelcome | null> {
  const password = makePassword()
  const [passwordHash, domainKeys] = await Promise.all([
    hashPassword(password),
    makeDomainKeys(deps),
  ])
  const keys = makeKeys()
  const at = deps.now()
  return deps.store.write(async (tx) => {
    if (!(await isEmpty(tx))) return null
    const ownerId = await insertUser(tx, {
      address: USER_ADDRESS,
      passwordHash,
      isSandbox: true,
      isOperator: true,
      isProven: true,
      at,
    })
    const project = { name: PROJECT_NAME, ownerId, keys, areKeysSandbox: true, at }
    const id = await insertProject(tx, project)
    const domain = { projectId: id, domain: SANDBOX_DOMAIN, keys: domainKeys, isTrusted: true, at }
    await insertDomain(tx, domain)
    return {
      kind: 'created',
      domain: SANDBOX_DOMAIN,
      project: { id, name: PROJECT_NAME },
      user: { address: USER_ADDRESS, password },
      keys: { public: keys.publicKey, secret: keys.secretKey },
    }
  })
}

/** Finds the project that has verified the sandbox's domain. */
export async function findSandboxProject(
  queries: Pick<Tx, 'select'>,
): Promise<{ id: string; name: string } | undefined> {
  return queries
    .select({ id: projects.id, name: projects.name })
    .from(domains)
    .innerJoin(projects, eq(projects.id, domains.projectId))
    .where(
      and(
        eq(domains.domain, SANDBOX_DOMAIN),
        eq(domains.isVerified, true),
        isNull(projects.deletedAt),
      ),
    )
    .get()
}

/** Returns the sender of the sandbox; undefined in other modes, and if it is not the project's own. */
export async function findSandboxSender(
  { config, directory }: Pick<Base, 'config' | 'directory'>,
  projectId: string,
): Promise<ParsedAddress | undefined> {
  if (config.delivery.mode !== 'sandbox') return undefined
  const domain = await directory.findSenderDomain(projectId, SANDBOX_DOMAIN)
  return domain === undefined ? undefined : SANDBOX_SENDER
}

async function findSandbox({ store }: Pick<Base, 'store'>): Promise<SandboxWelcome | null> {
  const project = await findSandboxProject(store.read)
  return project === undefined ? null : { kind: 'existing', domain: SANDBOX_DOMAIN, project }
}

async function isEmpty(queries: Pick<Tx, 'select'>): Promise<boolean> {
  const user = await queries.select({ id: users.id }).from(users).limit(1)
  const project = await queries.select({ id: projects.id }).from(projects).limit(1)
  return user.length === 0 && project.length === 0
}

function isOnLoopback({ http }: Config): boolean {
  return http.listen.host === 'localhost' || isLoopback(http.listen.host)
}
