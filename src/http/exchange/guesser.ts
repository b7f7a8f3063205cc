/** Who sends a password or a code in a session, for the throttle of logins. */
import type { SessionGuesser } from '../../features/tenancy/accounts/login/confirm-password.ts'
import type { UserCall } from '../route.ts'
import { addressGroup, addressNetwork } from '../server/client-address.ts'
import { DEVICE_COOKIE, readCookie } from './cookies.ts'

export function guesserOf({
  user,
  address,
  incoming,
}: Pick<UserCall<unknown, unknown>, 'user' | 'address' | 'incoming'>): SessionGuesser {
  return {
    userId: user.id,
    account: user.address,
    network: addressGroup(address),
    wideNetwork: addressNetwork(address),
    device: readCookie(incoming, DEVICE_COOKIE),
  }
}
