/** The button that signs out. A sign-out that fails says so below it: the session still opens everything. */
import type { ComponentChildren } from 'preact'
import { signOut } from '../api/session.ts'
import { t } from '../text/text.ts'
import { Failed } from './state.tsx'
import { useAction } from './use-action.ts'

/** `children`: stands before the words. */
export function SignOut({ children }: { children?: ComponentChildren }) {
  const { isRunning, error, run } = useAction()
  return (
    <>
      <button
        class="btn quiet"
        type="button"
        disabled={isRunning}
        onClick={() => void run(signOut)}
      >
        {children}
        {t('shell.signOut')}
      </button>
      {error !== null && <Failed error={error} title={t('shell.signOut.failed')} />}
    </>
  )
}
