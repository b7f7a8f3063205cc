/** Keeps the project that sends the server's own mail to users. */
import { AppError } from '../../../base/errors.ts'
import type { Base } from '../../ground/base.ts'
import { findMailProjectId } from '../../tenancy/accounts/platform-mail/mail-project.ts'

type Deps = Pick<Base, 'store' | 'config'>

/** @throws AppError CONFLICT */
export async function refuseDeletion(deps: Deps, projectId: string): Promise<void> {
  if (projectId === (await findMailProjectId(deps, deps.store.read))) throw sendsMail('deleted')
}

/**
 * The sandbox's project may be reset: its domain stays, and its mail goes nowhere.
 * @throws AppError CONFLICT
 */
export function refuseReset({ config }: Pick<Deps, 'config'>, projectId: string): void {
  if (config.accounts.mailProject === projectId) throw sendsMail('reset')
}

function sendsMail(done: 'deleted' | 'reset'): AppError {
  return new AppError('CONFLICT', `This project sends the server's mail to users.`, {
    suggestion: `Name another project in accounts.mail_project before this one is ${done}.`,
  })
}
