/**
 * The log-in over a page whose session ended. What was typed stays, and calls that met the end of the session
 * are repeated. Another user who logs in here gets a page of their own.
 */
import { useEffect, useState } from 'preact/hooks'
import { signedIn, user } from '../../api/session.ts'
import { door as doorTexts } from '../../text/en/door.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { addTexts, t } from '../../text/text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/state.tsx'
import { ProviderLinks } from './providers.tsx'
import { SignInForm } from './sign-in-form.tsx'

addTexts(doorTexts, formTexts)

export default function SignInDialog() {
  const { email = '', method } = user.value ?? {}
  useEffect(() => {
    // Whoever has signed in in another tab goes on at once.
    const look = () => {
      if (document.visibilityState === 'visible') signedIn().catch(() => undefined)
    }
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [])
  return (
    <Dialog title={t('door.again')} onClose={() => undefined} class="small-dialog" isFirm>
      <div class="stack">
        <p class="small muted">{t('door.again.text')}</p>
        {method === undefined || method === 'PASSWORD' ? (
          <SignInForm address={email} isOver />
        ) : (
          <Elsewhere />
        )}
      </div>
    </Dialog>
  )
}

/** A provider takes the whole page, so it gets a tab of its own. */
function Elsewhere() {
  const [isChecking, setChecking] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const check = async () => {
    setChecking(true)
    await signedIn().catch(setFailure)
    setChecking(false)
  }
  return (
    <>
      <p class="small">{t('door.again.tab')}</p>
      <ProviderLinks isOver />
      {failure !== undefined && <Failed error={failure} title={t('door.again.notYet')} />}
      <p>
        <button class="btn main fill" type="button" disabled={isChecking} onClick={check}>
          {t('door.again.done')}
        </button>
      </p>
    </>
  )
}
