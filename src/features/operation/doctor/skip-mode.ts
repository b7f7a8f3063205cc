/** Why the checks of what other servers see say nothing in some modes. */
import type { Config } from '../../../config/config.ts'
import { type Outcome, skipped } from './outcome.ts'

/** For checks that no mode but the sandbox makes pointless. */
export function skipInSandbox({ delivery }: Pick<Config, 'delivery'>): Outcome | undefined {
  if (delivery.mode !== 'sandbox') return undefined
  return skipped('the sandbox sends no mail to other servers')
}

/** For checks of the addresses that mail comes from: those of the smarthost in relay mode. */
export function skipUnlessDirect(config: Pick<Config, 'delivery'>): Outcome | undefined {
  if (config.delivery.mode !== 'relay') return skipInSandbox(config)
  return skipped('in relay mode other servers see the addresses of the smarthost')
}
