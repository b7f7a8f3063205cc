/**
 * The texts of the server's mail to its users in each language, except those of
 * `usage-translations.ts`. `texts.ts` explains their parts.
 */
import type { Language } from '../../../../formats/languages.ts'
import type { MailTexts } from './texts.ts'

export const MAIL_TRANSLATIONS: Readonly<Record<Language, Omit<MailTexts, 'usage'>>> = {
  en: {
    verify: {
      subject: 'Confirm your email address',
      text: 'Somebody signed up at {server} with the address {email}. Please confirm that this was you.',
      button: 'Confirm address',
    },
    reset: {
      subject: 'Choose a new password',
      text: 'Somebody asked for a new password for {email} at {server}.',
      button: 'Choose a new password',
    },
    invitation: {
      subject: 'Invitation to {project}',
      text: '{person} invites you to work on the project {project} at {server}.',
      button: 'Open invitation',
    },
    disabled: {
      subject: '{project} was disabled',
      reputation:
        'The project {project} at {server} was disabled, because too many of its emails bounced or were reported as spam. It sends nothing for now. Please contact the operator of the server.',
      other:
        'The project {project} at {server} was disabled. It sends nothing for now. Please contact the operator of the server.',
    },
    domainLost: {
      subject: '{domain} can no longer send email',
      text: 'The DNS records of {domain} are missing. The project {project} at {server} cannot send email from this domain until they are restored.',
    },
    hour: 'The link works once, within one hour.',
    week: 'The link works once, within seven days.',
    copy: 'If the button does not work, open this address:',
    ignore: 'If you did not expect this message, you can ignore it.',
  },
  nl: {
    verify: {
      subject: 'Bevestig je e-mailadres',
      text: 'Iemand heeft zich bij {server} aangemeld met het adres {email}. Bevestig dat jij dat was.',
      button: 'Adres bevestigen',
    },
    reset: {
      subject: 'Kies een nieuw wachtwoord',
      text: 'Iemand heeft om een nieuw wachtwoord gevraagd voor {email} bij {server}.',
      button: 'Nieuw wachtwoord kiezen',
    },
    invitation: {
      subject: 'Uitnodiging voor {project}',
      text: '{person} nodigt je uit om mee te werken aan het project {project} op {server}.',
      button: 'Uitnodiging openen',
    },
    disabled: {
      subject: '{project} is uitgeschakeld',
      reputation:
        'Het project {project} op {server} is uitgeschakeld, omdat te veel e-mails niet konden worden bezorgd of als spam zijn gemeld. Het verstuurt voorlopig niets. Neem contact op met de beheerder van de server.',
      other:
        'Het project {project} op {server} is uitgeschakeld. Het verstuurt voorlopig niets. Neem contact op met de beheerder van de server.',
    },
    domainLost: {
      subject: '{domain} kan geen e-mail meer versturen',
      text: 'De DNS-records van {domain} ontbreken. Het project {project} op {server} kan vanaf dit domein geen e-mail versturen totdat ze zijn hersteld.',
    },
    hour: 'De link werkt één keer, binnen een uur.',
    week: 'De link werkt één keer, binnen zeven dagen.',
    copy: 'Werkt de knop niet, open dan dit adres:',
    ignore: 'Verwachtte je dit bericht niet, dan kun je het negeren.',
  },
  fr: {
    verify: {
      subject: 'Confirmez votre adresse e-mail',
      text: 'Une inscription a été faite sur {server} avec l’adresse {email}. Veuillez confirmer qu’elle vient de vous.',
      button: 'Confirmer l’adresse',
    },
    reset: {
      subject: 'Choisissez un nouveau mot de passe',
      text: 'Un nouveau mot de passe a été demandé pour {email} sur {server}.',
      button: 'Choisir un mot de passe',
    },
    invitation: {
      subject: 'Invitation à {project}',
      text: '{person} vous invite à participer au projet {project} sur {server}.',
      button: 'Ouvrir l’invitation',
    },
    disabled: {
      subject: 'Le projet {project} est désactivé',
      reputation:
        'Le projet {project} sur {server} a été désactivé, car trop de ses e-mails n’ont pas pu être remis ou ont été signalés comme indésirables. Il n’envoie plus rien pour le moment. Veuillez contacter l’administrateur du serveur.',
      other:
        'Le projet {project} sur {server} a été désactivé. Il n’envoie plus rien pour le moment. Veuillez contacter l’administrateur du serveur.',
    },
    domainLost: {
      subject: '{domain} ne peut plus envoyer d’e-mails',
      text: 'Les enregistrements DNS de {domain} sont introuvables. Le projet {project} sur {server} ne peut pas envoyer d’e-mails depuis ce domaine tant qu’ils ne sont pas rétablis.',
    },
    hour: 'Le lien fonctionne une seule fois, pendant une heure.',
    week: 'Le lien fonctionne une seule fois, pendant sept jours.',
    copy: 'Si le bouton ne fonctionne pas, ouvrez cette adresse :',
    ignore: 'Si vous n’attendiez pas ce message, vous pouvez l’ignorer.',
  },
  hi: {
    verify: {
      subject: 'अपने ईमेल पते की पुष्टि करें',
      text: 'किसी ने {server} पर {email} पते से खाता बनाया है। कृपया पुष्टि करें कि यह आपने किया है।',
      button: 'पते की पुष्टि करें',
    },
    reset: {
      subject: 'नया पासवर्ड चुनें',
      text: 'किसी ने {server} पर {email} के लिए नया पासवर्ड माँगा है।',
      button: 'नया पासवर्ड चुनें',
    },
    invitation: {
      subject: '{project} के लिए निमंत्रण',
      text: '{person} ने आपको {server} पर प्रोजेक्ट {project} में काम करने के लिए आमंत्रित किया है।',
      button: 'निमंत्रण खोलें',
    },
    disabled: {
      subject: '{project} बंद कर दिया गया है',
      reputation:
        '{server} पर प्रोजेक्ट {project} बंद कर दिया गया है, क्योंकि उसके बहुत से ईमेल पहुँच नहीं पाए या उन्हें स्पैम बताया गया। फ़िलहाल इससे कुछ नहीं भेजा जाता। कृपया सर्वर के संचालक से संपर्क करें।',
      other:
        '{server} पर प्रोजेक्ट {project} बंद कर दिया गया है। फ़िलहाल इससे कुछ नहीं भेजा जाता। कृपया सर्वर के संचालक से संपर्क करें।',
    },
    domainLost: {
      subject: '{domain} से अब ईमेल नहीं भेजे जा सकते',
      text: '{domain} के DNS रिकॉर्ड नहीं मिल रहे हैं। जब तक वे वापस नहीं आते, {server} पर प्रोजेक्ट {project} इस डोमेन से ईमेल नहीं भेज सकता।',
    },
    hour: 'यह लिंक एक घंटे के भीतर, केवल एक बार काम करता है।',
    week: 'यह लिंक सात दिनों के भीतर, केवल एक बार काम करता है।',
    copy: 'यदि बटन काम न करे, तो यह पता खोलें:',
    ignore: 'यदि आपको इस संदेश की अपेक्षा नहीं थी, तो इसे अनदेखा करें।',
  },
  de: {
    verify: {
      subject: 'E-Mail-Adresse bestätigen',
      text: 'Bei {server} wurde ein Konto mit der Adresse {email} angelegt. Bitte bestätigen Sie, dass Sie das waren.',
      button: 'Adresse bestätigen',
    },
    reset: {
      subject: 'Neues Passwort wählen',
      text: 'Bei {server} wurde ein neues Passwort für {email} angefordert.',
      button: 'Neues Passwort wählen',
    },
    invitation: {
      subject: 'Einladung zu {project}',
      text: '{person} lädt Sie ein, am Projekt {project} auf {server} mitzuarbeiten.',
      button: 'Einladung öffnen',
    },
    disabled: {
      subject: '{project} wurde gesperrt',
      reputation:
        'Das Projekt {project} auf {server} wurde gesperrt, weil zu viele seiner E-Mails nicht zugestellt werden konnten oder als Spam gemeldet wurden. Es versendet vorerst nichts. Bitte wenden Sie sich an den Betreiber des Servers.',
      other:
        'Das Projekt {project} auf {server} wurde gesperrt. Es versendet vorerst nichts. Bitte wenden Sie sich an den Betreiber des Servers.',
    },
    domainLost: {
      subject: '{domain} kann keine E-Mails mehr senden',
      text: 'Die DNS-Einträge von {domain} fehlen. Das Projekt {project} auf {server} kann von dieser Domain keine E-Mails senden, bis sie wiederhergestellt sind.',
    },
    hour: 'Der Link funktioniert einmal, innerhalb einer Stunde.',
    week: 'Der Link funktioniert einmal, innerhalb von sieben Tagen.',
    copy: 'Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse:',
    ignore: 'Wenn Sie diese Nachricht nicht erwartet haben, können Sie sie ignorieren.',
  },
  pt: {
    verify: {
      subject: 'Confirme o seu endereço de e-mail',
      text: 'Alguém criou uma conta em {server} com o endereço {email}. Confirme que foi você.',
      button: 'Confirmar endereço',
    },
    reset: {
      subject: 'Escolha uma nova senha',
      text: 'Alguém pediu uma nova senha para {email} em {server}.',
      button: 'Escolher nova senha',
    },
    invitation: {
      subject: 'Convite para {project}',
      text: '{person} convida você a participar do projeto {project} em {server}.',
      button: 'Abrir convite',
    },
    disabled: {
      subject: 'O projeto {project} foi desativado',
      reputation:
        'O projeto {project} em {server} foi desativado, porque muitos dos seus e-mails não puderam ser entregues ou foram denunciados como spam. Por enquanto ele não envia nada. Contate o administrador do servidor.',
      other:
        'O projeto {project} em {server} foi desativado. Por enquanto ele não envia nada. Contate o administrador do servidor.',
    },
    domainLost: {
      subject: '{domain} não pode mais enviar e-mails',
      text: 'Os registros DNS de {domain} não foram encontrados. O projeto {project} em {server} não pode enviar e-mails a partir deste domínio até que sejam restaurados.',
    },
    hour: 'O link funciona uma única vez, durante uma hora.',
    week: 'O link funciona uma única vez, durante sete dias.',
    copy: 'Se o botão não funcionar, abra este endereço:',
    ignore: 'Se você não esperava esta mensagem, pode ignorá-la.',
  },
  bg: {
    verify: {
      subject: 'Потвърдете имейл адреса си',
      text: 'Някой се регистрира в {server} с адреса {email}. Моля, потвърдете, че това сте вие.',
      button: 'Потвърждаване на адреса',
    },
    reset: {
      subject: 'Изберете нова парола',
      text: 'Някой поиска нова парола за {email} в {server}.',
      button: 'Избор на нова парола',
    },
    invitation: {
      subject: 'Покана за {project}',
      text: '{person} ви кани да работите по проекта {project} в {server}.',
      button: 'Отваряне на поканата',
    },
    disabled: {
      subject: 'Проектът {project} е изключен',
      reputation:
        'Проектът {project} в {server} е изключен, защото твърде много от имейлите му не бяха доставени или бяха отбелязани като спам. Засега той не изпраща нищо. Моля, свържете се с администратора на сървъра.',
      other:
        'Проектът {project} в {server} е изключен. Засега той не изпраща нищо. Моля, свържете се с администратора на сървъра.',
    },
    domainLost: {
      subject: '{domain} вече не може да изпраща имейли',
      text: 'DNS записите на {domain} липсват. Проектът {project} в {server} не може да изпраща имейли от този домейн, докато те не бъдат възстановени.',
    },
    hour: 'Връзката работи веднъж, в рамките на един час.',
    week: 'Връзката работи веднъж, в рамките на седем дни.',
    copy: 'Ако бутонът не работи, отворете този адрес:',
    ignore: 'Ако не сте очаквали това съобщение, можете да го пренебрегнете.',
  },
  cs: {
    verify: {
      subject: 'Potvrďte svou e-mailovou adresu',
      text: 'Na {server} byl založen účet s adresou {email}. Potvrďte prosím, že jste to byli vy.',
      button: 'Potvrdit adresu',
    },
    reset: {
      subject: 'Zvolte si nové heslo',
      text: 'Na {server} bylo vyžádáno nové heslo pro {email}.',
      button: 'Zvolit nové heslo',
    },
    invitation: {
      subject: 'Pozvánka do projektu {project}',
      text: '{person} vás zve ke spolupráci na projektu {project} na {server}.',
      button: 'Otevřít pozvánku',
    },
    disabled: {
      subject: 'Projekt {project} byl vypnut',
      reputation:
        'Projekt {project} na {server} byl vypnut, protože se příliš mnoho jeho e-mailů nepodařilo doručit nebo bylo označeno jako spam. Prozatím nic neodesílá. Obraťte se prosím na správce serveru.',
      other:
        'Projekt {project} na {server} byl vypnut. Prozatím nic neodesílá. Obraťte se prosím na správce serveru.',
    },
    domainLost: {
      subject: 'Doména {domain} už nemůže odesílat e-maily',
      text: 'Záznamy DNS domény {domain} chybí. Projekt {project} na {server} z této domény nemůže odesílat e-maily, dokud nebudou obnoveny.',
    },
    hour: 'Odkaz funguje jednou, během jedné hodiny.',
    week: 'Odkaz funguje jednou, během sedmi dnů.',
    copy: 'Pokud tlačítko nefunguje, otevřete tuto adresu:',
    ignore: 'Pokud jste tuto zprávu neočekávali, můžete ji ignorovat.',
  },
  pl: {
    verify: {
      subject: 'Potwierdź swój adres e-mail',
      text: 'W {server} założono konto z adresem {email}. Potwierdź, że to Twoje konto.',
      button: 'Potwierdź adres',
    },
    reset: {
      subject: 'Ustaw nowe hasło',
      text: 'W {server} poproszono o nowe hasło dla {email}.',
      button: 'Ustaw nowe hasło',
    },
    invitation: {
      subject: 'Zaproszenie do projektu {project}',
      text: '{person} zaprasza Cię do pracy nad projektem {project} w {server}.',
      button: 'Otwórz zaproszenie',
    },
    disabled: {
      subject: 'Projekt {project} został wyłączony',
      reputation:
        'Projekt {project} w {server} został wyłączony, ponieważ zbyt wielu jego wiadomości nie udało się dostarczyć lub zgłoszono je jako spam. Na razie niczego nie wysyła. Skontaktuj się z administratorem serwera.',
      other:
        'Projekt {project} w {server} został wyłączony. Na razie niczego nie wysyła. Skontaktuj się z administratorem serwera.',
    },
    domainLost: {
      subject: 'Domena {domain} nie może już wysyłać wiadomości',
      text: 'Brakuje rekordów DNS domeny {domain}. Projekt {project} w {server} nie może wysyłać wiadomości z tej domeny, dopóki nie zostaną przywrócone.',
    },
    hour: 'Link działa jeden raz, przez godzinę.',
    week: 'Link działa jeden raz, przez siedem dni.',
    copy: 'Jeśli przycisk nie działa, otwórz ten adres:',
    ignore: 'Jeśli nie spodziewasz się tej wiadomości, możesz ją zignorować.',
  },
  es: {
    verify: {
      subject: 'Confirma tu dirección de correo',
      text: 'Alguien se registró en {server} con la dirección {email}. Confirma que fuiste tú.',
      button: 'Confirmar dirección',
    },
    reset: {
      subject: 'Elige una contraseña nueva',
      text: 'Alguien pidió una contraseña nueva para {email} en {server}.',
      button: 'Elegir contraseña',
    },
    invitation: {
      subject: 'Invitación a {project}',
      text: '{person} te invita a trabajar en el proyecto {project} en {server}.',
      button: 'Abrir invitación',
    },
    disabled: {
      subject: 'El proyecto {project} se ha desactivado',
      reputation:
        'El proyecto {project} en {server} se ha desactivado porque demasiados de sus correos no se pudieron entregar o se denunciaron como spam. Por ahora no envía nada. Ponte en contacto con el administrador del servidor.',
      other:
        'El proyecto {project} en {server} se ha desactivado. Por ahora no envía nada. Ponte en contacto con el administrador del servidor.',
    },
    domainLost: {
      subject: '{domain} ya no puede enviar correo',
      text: 'Faltan los registros DNS de {domain}. El proyecto {project} en {server} no puede enviar correo desde este dominio hasta que se restablezcan.',
    },
    hour: 'El enlace funciona una sola vez, durante una hora.',
    week: 'El enlace funciona una sola vez, durante siete días.',
    copy: 'Si el botón no funciona, abre esta dirección:',
    ignore: 'Si no esperabas este mensaje, puedes ignorarlo.',
  },
  it: {
    verify: {
      subject: 'Conferma il tuo indirizzo e-mail',
      text: 'Qualcuno si è registrato su {server} con l’indirizzo {email}. Conferma che la registrazione è tua.',
      button: 'Conferma l’indirizzo',
    },
    reset: {
      subject: 'Scegli una nuova password',
      text: 'Qualcuno ha chiesto una nuova password per {email} su {server}.',
      button: 'Scegli la password',
    },
    invitation: {
      subject: 'Invito a {project}',
      text: '{person} ti invita a lavorare al progetto {project} su {server}.',
      button: 'Apri l’invito',
    },
    disabled: {
      subject: 'Il progetto {project} è stato disattivato',
      reputation:
        'Il progetto {project} su {server} è stato disattivato, perché troppe delle sue e-mail non sono state recapitate o sono state segnalate come spam. Per ora non invia nulla. Contatta il gestore del server.',
      other:
        'Il progetto {project} su {server} è stato disattivato. Per ora non invia nulla. Contatta il gestore del server.',
    },
    domainLost: {
      subject: '{domain} non può più inviare e-mail',
      text: 'I record DNS di {domain} non ci sono più. Il progetto {project} su {server} non può inviare e-mail da questo dominio finché non vengono ripristinati.',
    },
    hour: 'Il link funziona una sola volta, entro un’ora.',
    week: 'Il link funziona una sola volta, entro sette giorni.',
    copy: 'Se il pulsante non funziona, apri questo indirizzo:',
    ignore: 'Se non aspettavi questo messaggio, puoi ignorarlo.',
  },
  'zh-TW': {
    verify: {
      subject: '確認您的電子郵件地址',
      text: '有人使用 {email} 在 {server} 註冊。請確認這是您本人的操作。',
      button: '確認電子郵件地址',
    },
    reset: {
      subject: '設定新密碼',
      text: '有人要求為 {server} 上的 {email} 設定新密碼。',
      button: '設定新密碼',
    },
    invitation: {
      subject: '{project} 的邀請',
      text: '{person} 邀請您在 {server} 上參與專案 {project}。',
      button: '開啟邀請',
    },
    disabled: {
      subject: '{project} 已停用',
      reputation:
        '{server} 上的專案 {project} 已停用，因為它有太多郵件無法送達或被檢舉為垃圾郵件。目前不會寄出任何郵件。請聯絡伺服器的管理員。',
      other: '{server} 上的專案 {project} 已停用。目前不會寄出任何郵件。請聯絡伺服器的管理員。',
    },
    domainLost: {
      subject: '{domain} 無法再寄送郵件',
      text: '找不到 {domain} 的 DNS 記錄。在恢復之前，{server} 上的專案 {project} 無法從這個網域寄送郵件。',
    },
    hour: '此連結只能使用一次，一小時內有效。',
    week: '此連結只能使用一次，七天內有效。',
    copy: '如果按鈕無法使用，請開啟以下網址：',
    ignore: '如果您並未預期收到這封郵件，可以忽略它。',
  },
  'zh-HK': {
    verify: {
      subject: '確認你的電郵地址',
      text: '有人使用 {email} 在 {server} 登記。請確認這是你本人的操作。',
      button: '確認電郵地址',
    },
    reset: {
      subject: '設定新密碼',
      text: '有人要求為 {server} 上的 {email} 設定新密碼。',
      button: '設定新密碼',
    },
    invitation: {
      subject: '{project} 的邀請',
      text: '{person} 邀請你在 {server} 上參與項目 {project}。',
      button: '開啟邀請',
    },
    disabled: {
      subject: '{project} 已停用',
      reputation:
        '{server} 上的項目 {project} 已停用，因為它有太多電郵無法送達或被舉報為垃圾電郵。目前不會寄出任何電郵。請聯絡伺服器的管理員。',
      other: '{server} 上的項目 {project} 已停用。目前不會寄出任何電郵。請聯絡伺服器的管理員。',
    },
    domainLost: {
      subject: '{domain} 無法再寄出電郵',
      text: '找不到 {domain} 的 DNS 記錄。在恢復之前，{server} 上的項目 {project} 無法從這個網域寄出電郵。',
    },
    hour: '此連結只可使用一次，一小時內有效。',
    week: '此連結只可使用一次，七天內有效。',
    copy: '如果按鈕無法使用，請開啟以下網址：',
    ignore: '如果你並未預期收到這封電郵，可以不予理會。',
  },
  'zh-CN': {
    verify: {
      subject: '确认您的电子邮件地址',
      text: '有人使用 {email} 在 {server} 注册。请确认这是您本人的操作。',
      button: '确认电子邮件地址',
    },
    reset: {
      subject: '设置新密码',
      text: '有人要求为 {server} 上的 {email} 设置新密码。',
      button: '设置新密码',
    },
    invitation: {
      subject: '{project} 的邀请',
      text: '{person} 邀请您在 {server} 上参与项目 {project}。',
      button: '打开邀请',
    },
    disabled: {
      subject: '{project} 已停用',
      reputation:
        '{server} 上的项目 {project} 已停用，因为它有太多邮件无法送达或被举报为垃圾邮件。目前不会发送任何邮件。请联系服务器的管理员。',
      other: '{server} 上的项目 {project} 已停用。目前不会发送任何邮件。请联系服务器的管理员。',
    },
    domainLost: {
      subject: '{domain} 无法再发送邮件',
      text: '找不到 {domain} 的 DNS 记录。在恢复之前，{server} 上的项目 {project} 无法从此域名发送邮件。',
    },
    hour: '此链接只能使用一次，一小时内有效。',
    week: '此链接只能使用一次，七天内有效。',
    copy: '如果按钮无法使用，请打开以下网址：',
    ignore: '如果您没有预料到这封邮件，可以忽略它。',
  },
  ja: {
    verify: {
      subject: 'メールアドレスの確認',
      text: '{server} で {email} を使ったアカウント登録がありました。ご本人による登録であることを確認してください。',
      button: 'アドレスを確認',
    },
    reset: {
      subject: '新しいパスワードの設定',
      text: '{server} で {email} の新しいパスワードの設定が求められました。',
      button: '新しいパスワードを設定',
    },
    invitation: {
      subject: '{project} への招待',
      text: '{person} さんが {server} のプロジェクト {project} にあなたを招待しています。',
      button: '招待を開く',
    },
    disabled: {
      subject: '{project} は停止されました',
      reputation:
        '{server} のプロジェクト {project} は、配信できなかったメールや迷惑メールとして報告されたメールが多すぎたため停止されました。現在メールは送信されません。サーバーの管理者にお問い合わせください。',
      other:
        '{server} のプロジェクト {project} は停止されました。現在メールは送信されません。サーバーの管理者にお問い合わせください。',
    },
    domainLost: {
      subject: '{domain} からメールを送信できなくなりました',
      text: '{domain} の DNS レコードが見つかりません。元に戻るまで、{server} のプロジェクト {project} はこのドメインからメールを送信できません。',
    },
    hour: 'このリンクは 1 時間以内に 1 回だけ使えます。',
    week: 'このリンクは 7 日以内に 1 回だけ使えます。',
    copy: 'ボタンが使えない場合は、次のアドレスを開いてください：',
    ignore: 'お心当たりのない場合は、このメールを無視してください。',
  },
  sv: {
    verify: {
      subject: 'Bekräfta din e-postadress',
      text: 'Någon har registrerat sig på {server} med adressen {email}. Bekräfta att det var du.',
      button: 'Bekräfta adressen',
    },
    reset: {
      subject: 'Välj ett nytt lösenord',
      text: 'Någon har bett om ett nytt lösenord för {email} på {server}.',
      button: 'Välj nytt lösenord',
    },
    invitation: {
      subject: 'Inbjudan till {project}',
      text: '{person} bjuder in dig att arbeta i projektet {project} på {server}.',
      button: 'Öppna inbjudan',
    },
    disabled: {
      subject: '{project} har stängts av',
      reputation:
        'Projektet {project} på {server} har stängts av, eftersom för många av dess mejl inte kunde levereras eller anmäldes som skräppost. Det skickar ingenting för tillfället. Kontakta serverns administratör.',
      other:
        'Projektet {project} på {server} har stängts av. Det skickar ingenting för tillfället. Kontakta serverns administratör.',
    },
    domainLost: {
      subject: '{domain} kan inte längre skicka e-post',
      text: 'DNS-posterna för {domain} saknas. Projektet {project} på {server} kan inte skicka e-post från den här domänen förrän de har återställts.',
    },
    hour: 'Länken fungerar en gång, inom en timme.',
    week: 'Länken fungerar en gång, inom sju dagar.',
    copy: 'Om knappen inte fungerar kan du öppna den här adressen:',
    ignore: 'Om du inte väntade dig det här meddelandet kan du bortse från det.',
  },
  cy: {
    verify: {
      subject: 'Cadarnhewch eich cyfeiriad e-bost',
      text: 'Mae rhywun wedi cofrestru ar {server} gyda’r cyfeiriad {email}. Cadarnhewch mai chi oedd hyn.',
      button: 'Cadarnhau’r cyfeiriad',
    },
    reset: {
      subject: 'Dewiswch gyfrinair newydd',
      text: 'Mae rhywun wedi gofyn am gyfrinair newydd i {email} ar {server}.',
      button: 'Dewis cyfrinair newydd',
    },
    invitation: {
      subject: 'Gwahoddiad i {project}',
      text: 'Mae {person} yn eich gwahodd i weithio ar y prosiect {project} ar {server}.',
      button: 'Agor y gwahoddiad',
    },
    disabled: {
      subject: 'Mae {project} wedi’i analluogi',
      reputation:
        'Mae’r prosiect {project} ar {server} wedi’i analluogi, am na ellid danfon gormod o’i e-byst neu am iddynt gael eu riportio fel sbam. Nid yw’n anfon dim am y tro. Cysylltwch â gweinyddwr y gweinydd.',
      other:
        'Mae’r prosiect {project} ar {server} wedi’i analluogi. Nid yw’n anfon dim am y tro. Cysylltwch â gweinyddwr y gweinydd.',
    },
    domainLost: {
      subject: 'Ni all {domain} anfon e-byst mwyach',
      text: 'Mae cofnodion DNS {domain} ar goll. Ni all y prosiect {project} ar {server} anfon e-byst o’r parth hwn nes iddynt gael eu hadfer.',
    },
    hour: 'Mae’r ddolen yn gweithio unwaith, o fewn awr.',
    week: 'Mae’r ddolen yn gweithio unwaith, o fewn saith diwrnod.',
    copy: 'Os nad yw’r botwm yn gweithio, agorwch y cyfeiriad hwn:',
    ignore: 'Os nad oeddech yn disgwyl y neges hon, gallwch ei hanwybyddu.',
  },
}
