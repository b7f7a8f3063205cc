/** The project that sends the server's own mail to users. */
import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import { and, eq } from '../../store/drizzle.ts'
import { domains } from '../../store/schema/domains.ts'
import { SANDBOX_DOMAIN } from '../accounts/sandbox-project.ts'
import type { Base } from '../base.ts'

type Deps = Pick<Base, 'store' | 'config'>

/** Whether a project is the configured one, or the sandbox's if the sandbox sends the mail. */
export async function isMailProject({ store, config }: Deps, projectId: string): Promise<boolean> {
  if (isConfigured(config, projectId)) return true
  if (config.accounts.mailProject !== null || config.delivery.mode !== 'sandbox') return false
  const owner = await store.read
    .select({ projectId: domains.projectId })
    .from(domains)
    .where(and(eq(domains.domain, SANDBOX_DOMAIN), eq(domains.isVerified, true)))
    .get()
  return owner?.projectId === projectId
}

/** @throws AppError CONFLICT */
export async function refuseDeletion(deps: Deps, projectId: string): Promise<void> {
  if (await isMailProject(deps, projectId)) throw sendsMail('deleted')
}

/**
 * The sandbox's project may be reset: its domain stays, and its mail goes nowhere.
 * @throws AppError CONFLICT
 */
export function refuseReset({ config }: Pick<Deps, 'config'>, projectId: string): void {
  if (isConfigured(config, projectId)) throw sendsMail('reset')
}

function isConfigured({ accounts }: Config, projectId: string): boolean {
  return accounts.mailProject === projectId
}

function sendsMail(done: 'deleted' | 'reset'): AppError {
  return new AppError('CONFLICT', `This project sends the server's mail to users.`, {
    suggestion: `Name another project in accounts.mail_project before this one is ${done}.`,
  })
}
