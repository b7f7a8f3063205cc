/** The recovery codes, to copy, to print and to keep. Closing asks for nothing, but the codes are gone then. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { user } from '../../api/session.ts'
import { t } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import { hostName } from '../../ui/link.ts'

type RecoveryCodesProps = { codes: readonly string[]; onDone(): void }

export function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus(), [])
  return (
    <div class="stack codes">
      <h3 ref={heading} tabIndex={-1}>
        {t('account.codes')}
      </h3>
      <p class="print">
        {hostName()} · {user.value?.email}
      </p>
      <p>{t('account.codes.text')}</p>
      <ul class="code" dir="ltr">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <p class="row">
        <Copy text={codes.join('\n')} />
        <button class="btn" type="button" onClick={() => print()}>
          {t('account.codes.print')}
        </button>
        <button class="btn main" type="button" onClick={onDone}>
          {t('account.codes.kept')}
        </button>
      </p>
    </div>
  )
}
