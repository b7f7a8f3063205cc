/** The steps without controls of their own. */
import { base } from '../../api/client.ts'
import { config, user } from '../../api/session.ts'
import { t } from '../../text/text.ts'
import { link } from '../../ui/link.ts'
import { useProject } from '../../ui/use-project.ts'
import { type FirstEmail, Outcome } from './first-mail.tsx'

export function SignedInStep() {
  const role = useProject()?.role ?? 'MEMBER'
  return (
    <li class="good">
      <p class="row between">
        <b>{t('first.signedIn', { address: user.value?.email ?? '' })}</b>
        <span class="small muted">{t(`role.${role}`)}</span>
      </p>
    </li>
  )
}

export function SenderStep({ sender }: { sender: string }) {
  const isSandbox = config.value?.environment === 'sandbox'
  return (
    <li class="good">
      <p class="row between">
        <b>{t('first.sender', { address: sender })}</b>
        <span class="small muted">
          {t(isSandbox ? 'first.sender.sandbox' : 'first.sender.verified')}
        </span>
      </p>
    </li>
  )
}

type ReadStepProps = { email: FirstEmail | undefined; isDone: boolean }

export function ReadStep({ email, isDone }: ReadStepProps) {
  const title = <b>{t('first.read')}</b>
  return (
    <li class={isDone ? 'good' : ''}>
      <p class={isDone ? '' : 'muted'}>
        {email === undefined ? title : <a href={link(`/emails/${email.id}`)}>{title}</a>},{' '}
        {t('first.read.text')}
      </p>
      {email !== undefined && (
        <p>
          <Outcome email={email} />
        </p>
      )}
    </li>
  )
}

export function RealStep({ isNext }: { isNext: boolean }) {
  const isSandbox = config.value?.environment === 'sandbox'
  return (
    <li class={isNext ? 'next' : ''}>
      <p class="muted">
        <b>{t('first.real')}</b> {t(isSandbox ? 'first.real.sandbox' : 'first.real.direct')}{' '}
        <a href={`${base}/docs/guide/${isSandbox ? 'production' : 'contacts'}`}>
          {t('first.real.link')}
        </a>
      </p>
    </li>
  )
}
