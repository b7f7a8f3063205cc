/** Why a login with a provider failed. */

/**
 * access_denied      the user refused at the provider
 * state_mismatch     the answer does not belong to a login that this browser began, or came twice
 * expired            the login took longer than ten minutes
 * email_unverified   the provider says no address, or does not call it verified
 * method_mismatch    the address belongs to an account with another way to log in
 * signup_disabled    no account, and new ones are not allowed
 * setup_needed       no account, and the first user of the server is not made yet
 * address_refused    new accounts cannot have the address (`accounts.verify_email_on_signup`)
 * provider_error     the provider is down, slow, or its answer is not valid
 * too_many_attempts  too many logins from the network of the client
 * unavailable        this server takes no new accounts or logins at the moment, such as on a full disk
 * other              anything else, such as name servers that do not answer
 */
export const LOGIN_FAILURES = [
  'access_denied',
  'state_mismatch',
  'expired',
  'email_unverified',
  'method_mismatch',
  'signup_disabled',
  'setup_needed',
  'address_refused',
  'provider_error',
  'too_many_attempts',
  'unavailable',
  'other',
] as const

export type LoginFailureCode = (typeof LOGIN_FAILURES)[number]

/** `message` is for the log, without secrets, codes and tokens. The user gets a text for the code. */
export class LoginFailure extends Error {
  override readonly name = 'LoginFailure'
  readonly code: LoginFailureCode

  constructor(code: LoginFailureCode, message: string) {
    super(message)
    this.code = code
  }
}
