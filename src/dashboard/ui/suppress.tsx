/** Suppresses an address: the dialog says what will happen, and whether it failed. */
import { type Answer, call } from '../api/client.ts'
import { queryClient, useInput } from '../api/queries.ts'
import { project } from '../api/session.ts'
import { t } from '../text/text.ts'
import { Ask } from './ask.tsx'
import { useAction } from './use-action.ts'

type SuppressProps = {
  address: string
  onClose(): void
  onDone(answer: Answer<'POST /suppressions'>): void
}

export function Suppress({ address, onClose, onDone }: SuppressProps) {
  const action = useAction()
  const input = useInput({ body: { email: address, reason: 'MANUAL' as const } })
  return (
    <Ask
      {...{ action, onClose }}
      title={t('action.suppress.title', { to: address })}
      text={t('action.suppress.text')}
      label={t('action.suppress.do')}
      obstacle={project.value?.disabled === true ? t('action.disabled') : undefined}
      write={async () => {
        onDone(await call('POST /suppressions', input))
        void queryClient.invalidateQueries({ queryKey: ['GET /suppressions'] })
      }}
    />
  )
}
