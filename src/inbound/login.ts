/** Checks the login of a program for submission: user `pillarbox`, a secret key as the password. */
import { AppError } from '../base/errors.ts'
import type { Core } from '../core/core.ts'
import { projectDisabled } from '../features/ground/directory.ts'
import { authenticateKey } from '../features/tenancy/accounts/callers/authenticate.ts'
import type { Project } from '../features/tenancy/accounts/rows.ts'
import { refusal, type SmtpRefusal } from './refusal.ts'

type LoginDeps = Pick<Core, 'directory' | 'config' | 'log'>

/** The user of a session, which smtp-server stores. */
export type SubmissionUser = { key: string; project: Project }

type LoginResult = { user: SubmissionUser } | { refused: SmtpRefusal; isGuess: boolean }

const USER = 'pillarbox'

/** Reply codes: RFC 4954 section 6, RFC 5248. */
export async function logIn(
  deps: LoginDeps,
  {
    username = '',
    password = '',
  }: { username?: string | undefined; password?: string | undefined },
): Promise<LoginResult> {
  if (username.trim().toLowerCase() !== USER) return wrong(`The user name is ${USER}.`)
  try {
    const key = password.trim()
    const project = await findProject(deps, key)
    // A program that is told of a reset at its login might take the key to be wrong.
    if (!project.isDisabled || project.resetSince !== null) return { user: { key, project } }
    return { refused: refusal('535 5.7.13', projectDisabled().message), isGuess: false }
  } catch (error) {
    if (error instanceof AppError && error.status < 500) {
      return wrong(`${error.message} The password is a secret key (sk_...).`)
    }
    deps.log.error({ error }, 'a login for submission could not be checked')
    return { refused: refusal('454 4.7.0', 'Try again later.'), isGuess: false }
  }
}

/**
 * Returns the project as it is now: its key may be renewed, or the project disabled, during a session.
 * @throws AppError INVALID_API_KEY, PROJECT_DISABLED, DATABASE_ERROR; SmtpRefusal during a reset
 */
export async function confirmUser(
  deps: Pick<Core, 'directory' | 'config'>,
  { key }: SubmissionUser,
): Promise<Project> {
  const project = await findProject(deps, key)
  if (project.resetSince !== null) throw underReset()
  if (project.isDisabled) throw projectDisabled()
  return project
}

async function findProject(
  deps: Pick<Core, 'directory' | 'config'>,
  key: string,
): Promise<Project> {
  const { project } = await authenticateKey(deps, key, ['secret'])
  return project
}

function underReset(): SmtpRefusal {
  return refusal('451 4.7.0', 'The project is being reset, try again later')
}

function wrong(text: string): LoginResult {
  return { refused: refusal('535 5.7.8', text), isGuess: true }
}
