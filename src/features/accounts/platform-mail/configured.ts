/** Whether this server can send mail to its users. */
import type { Config } from '../../../config/config.ts'
import type { SessionUser } from '../callers/caller.ts'

/** In sandbox mode the sandbox project sends the mail. */
export function isPlatformMailConfigured({ accounts, delivery }: Config): boolean {
  return accounts.mailProject !== null || delivery.mode === 'sandbox'
}

/** Whether the user must prove the address first. Without mail nobody could. */
export function needsVerification(
  config: Config,
  { verifiedAt }: Pick<SessionUser, 'verifiedAt'>,
): boolean {
  return verifiedAt === null && isPlatformMailConfigured(config)
}
