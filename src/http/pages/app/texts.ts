/**
 * The texts of the pages at `/app` in one language. `{email}` stands for the user's address, `{provider}`
 * for the name of a provider such as GitHub.
 */
import type { LoginFailureCode } from '../../../features/accounts/oauth/login-failure.ts'

export type AppTexts = {
  home: { title: string; text: string; docs: string; logOut: string }
  login: {
    title: string
    /** A link for each provider. */
    with: string
    /** How to log in with a password. */
    api: string
  }
  /** Why a login failed, and what helps. */
  failures: Record<LoginFailureCode, string>
  notFound: { title: string; text: string; home: string }
  failed: { title: string; text: string }
}
