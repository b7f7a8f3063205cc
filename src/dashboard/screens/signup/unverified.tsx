/** What a person sees whose address is not verified yet: the mail that does it, and another one. */
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { signedIn, user } from '../../api/session.ts'
import { door as doorTexts } from '../../text/en/door.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { addTexts, t, tx } from '../../text/text.ts'
import { Door } from '../../ui/door.tsx'
import { FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { hostName } from '../../ui/link.ts'
import { SignOut } from '../../ui/sign-out.tsx'
import { Failed } from '../../ui/state.tsx'

addTexts(doorTexts, formTexts)

export default function Unverified() {
  const [sent, setSent] = useState(0)
  const [failure, setFailure] = useState<unknown>()
  const form = useForm(async () => {
    await call('POST /auth/request-verification')
    setSent((before) => before + 1)
  })
  const look = () => {
    setFailure(undefined)
    signedIn().catch(setFailure)
  }
  useEffect(() => {
    // The link opens in another tab: whoever comes back from there goes on at once.
    const lookAgain = () => {
      if (document.visibilityState === 'visible') look()
    }
    document.addEventListener('visibilitychange', lookAgain)
    return () => document.removeEventListener('visibilitychange', lookAgain)
  }, [])
  return (
    <Door title={t('door.unverified')} host={hostName()}>
      <p>{tx('door.unverified.text', { email: <b>{user.value?.email}</b> })}</p>
      <FormBox form={form}>
        <p class="small t-good" role="status">
          {sent > 0 && t('door.unverified.sent')}
        </p>
        <FormFailure form={form} />
        <Submit form={form} class="main fill">
          {t('door.unverified.resend')}
        </Submit>
      </FormBox>
      {failure !== undefined && <Failed error={failure} title={t('form.failed')} />}
      <p class="row">
        <button class="btn" type="button" onClick={look}>
          {t('door.unverified.done')}
        </button>
        <SignOut />
      </p>
    </Door>
  )
}
