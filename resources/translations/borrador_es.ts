<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="es" sourcelanguage="en">
<context>
    <name>Asking</name>
    <message>
        <source>Take {name} off the list?</source>
        <translation>¿Quitar {name} de la lista?</translation>
    </message>
    <message>
        <source>Its files stay where they are, in {folder}.</source>
        <translation>Sus archivos se quedan donde están, en {folder}.</translation>
    </message>
    <message>
        <source>Take it off</source>
        <translation>Quitarlo</translation>
    </message>
    <message>
        <source>Remove {name}?</source>
        <translation>¿Eliminar {name}?</translation>
    </message>
    <message>
        <source>This frees {size}.</source>
        <translation>Así se liberan {size}.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Eliminar</translation>
    </message>
    <message>
        <source>Leave it</source>
        <translation>Dejarlo</translation>
    </message>
    <message>
        <source>{name} was removed; {size} are free now.</source>
        <translation>Se ha eliminado {name}; ahora hay {size} libres.</translation>
    </message>
    <message>
        <source>{name} is off the list; its files are where they were.</source>
        <translation>{name} ya no está en la lista; sus archivos siguen donde estaban.</translation>
    </message>
    <message>
        <source>Remove {name} for other programs, too?</source>
        <translation>¿Eliminar {name} también para otros programas?</translation>
    </message>
    <message>
        <source>Its files lie in {folder}, where other programs use them as well. Removing them frees {size}.</source>
        <translation>Sus archivos están en {folder}, donde también los usan otros programas. Al eliminarlos se liberan {size}.</translation>
    </message>
    <message>
        <source>Remove them anyway</source>
        <translation>Eliminarlos de todos modos</translation>
    </message>
    <message>
        <source>Leave them</source>
        <translation>Dejarlos</translation>
    </message>
    <message>
        <source>{name} needs program code of its own. Let it run?</source>
        <translation>{name} necesita código de programa propio. ¿Permitir que se ejecute?</translation>
    </message>
    <message>
        <source>The code comes from {repository}, revision {revision} ({files}). Borrador has not checked it: when the model is loaded, it can read, change and send whatever you can. Allow it only if you trust its author. The answer is remembered for this code alone.</source>
        <translation>El código procede de {repository}, revisión {revision} ({files}). Borrador no lo ha comprobado: al cargar el modelo, puede leer, cambiar y enviar todo lo que tú puedes. Permítelo solo si confías en su autor. La respuesta se recuerda solo para este código.</translation>
    </message>
    <message>
        <source>Allow it</source>
        <translation>Permitirlo</translation>
    </message>
    <message>
        <source>Do not allow it</source>
        <translation>No permitirlo</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelos</translation>
    </message>
</context>
<context>
    <name>Attaching</name>
    <message>
        <source>Only the first {count} files were taken; add the others in another message.</source>
        <translation>Solo se han tomado los primeros {count} archivos; añade los demás en otro mensaje.</translation>
    </message>
    <message>
        <source>{file} is not there any more.</source>
        <translation>{file} ya no está ahí.</translation>
    </message>
    <message>
        <source>{file} is a folder; add the files in it.</source>
        <translation>{file} es una carpeta; añade los archivos que contiene.</translation>
    </message>
    <message>
        <source>{file} cannot be read: {detail}.</source>
        <translation>No se puede leer {file}: {detail}.</translation>
    </message>
    <message>
        <source>{file} has {size} MB; at most {limit} MB can be added.</source>
        <translation>{file} tiene {size} MB; se pueden añadir como mucho {limit} MB.</translation>
    </message>
    <message>
        <source>{file} holds {size} characters; at most {limit} can be added. Add a part of it.</source>
        <translation>{file} contiene {size} caracteres; se pueden añadir como mucho {limit}. Añade una parte.</translation>
    </message>
    <message>
        <source>{file} holds no text.</source>
        <translation>{file} no contiene texto.</translation>
    </message>
    <message>
        <source>{file} holds no text, only pictures of it; run it through a text recognition first.</source>
        <translation>{file} no contiene texto, solo imágenes de él; pásalo antes por un reconocimiento de texto.</translation>
    </message>
    <message>
        <source>{file} is protected by a password; save it without one first.</source>
        <translation>{file} está protegido con contraseña; guárdalo antes sin ella.</translation>
    </message>
    <message>
        <source>{file} is no text, PDF or Word (docx) file; save it as one of these first.</source>
        <translation>{file} no es un archivo de texto, PDF ni Word (docx); guárdalo antes como uno de ellos.</translation>
    </message>
    <message>
        <source>{file} could not be read in {seconds} seconds; add a part of it.</source>
        <translation>No se ha podido leer {file} en {seconds} segundos; añade una parte.</translation>
    </message>
    <message>
        <source>{file} is damaged and cannot be read ({detail}).</source>
        <translation>{file} está dañado y no se puede leer ({detail}).</translation>
    </message>
</context>
<context>
    <name>Candidates</name>
    <message>
        <source>Share</source>
        <translation>Parte</translation>
    </message>
    <message>
        <source>Noise</source>
        <translation>Ruido</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>Puntuación</translation>
    </message>
    <message>
        <source>drafted, chosen</source>
        <translation>propuesto, elegido</translation>
    </message>
    <message>
        <source>drafted</source>
        <translation>propuesto</translation>
    </message>
    <message>
        <source>chosen</source>
        <translation>elegido</translation>
    </message>
</context>
<context>
    <name>Card</name>
    <message>
        <source>Drafter</source>
        <translation>Borrador de</translation>
    </message>
    <message>
        <source>off</source>
        <translation>no</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>auto</translation>
    </message>
    <message>
        <source>Draft length K</source>
        <translation>Longitud del borrador, K</translation>
    </message>
    <message>
        <source>same text</source>
        <translation>mismo texto</translation>
    </message>
    <message>
        <source>same odds (textbook)</source>
        <translation>mismas probabilidades (manual)</translation>
    </message>
    <message>
        <source>Rule</source>
        <translation>Regla</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>Modo</translation>
    </message>
    <message>
        <source>as loaded</source>
        <translation>la cargada</translation>
    </message>
    <message>
        <source>Recipe</source>
        <translation>Receta</translation>
    </message>
    <message>
        <source>How the self-draft copy is made; one that is not there is made first</source>
        <translation>Cómo se hace la copia de autoborrador; la que falte se hace antes</translation>
    </message>
    <message>
        <source>K</source>
        <translation>K</translation>
    </message>
    <message>
        <source>Remove “{setting}”</source>
        <translation>Quitar «{setting}»</translation>
    </message>
</context>
<context>
    <name>ChatDialog</name>
    <message>
        <source>Chat settings</source>
        <translation>Ajustes de la conversación</translation>
    </message>
    <message>
        <source>What the model should always keep in mind in this chat</source>
        <translation>Lo que el modelo debe tener siempre presente en esta conversación</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Instrucciones del sistema</translation>
    </message>
    <message>
        <source>Keep the seed of the last reply: {seed}</source>
        <translation>Conservar la semilla de la última respuesta: {seed}</translation>
    </message>
    <message>
        <source>Use for new chats, too</source>
        <translation>Usar también en las conversaciones nuevas</translation>
    </message>
    <message>
        <source>New chats begin with these</source>
        <translation>Las conversaciones nuevas empiezan así</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Ajuste guardado</translation>
    </message>
</context>
<context>
    <name>Chips</name>
    <message>
        <source>{count} characters</source>
        <translation>{count} caracteres</translation>
    </message>
    <message>
        <source>Long text</source>
        <translation>Texto largo</translation>
    </message>
    <message>
        <source>Take {name} out</source>
        <translation>Quitar {name}</translation>
    </message>
    <message>
        <source>Too long for the field; it is sent as it stands.</source>
        <translation>Demasiado largo para el campo; se envía tal cual.</translation>
    </message>
    <message>
        <source>reading</source>
        <translation>leyendo</translation>
    </message>
    <message>
        <source>Stop reading {name}</source>
        <translation>Dejar de leer {name}</translation>
    </message>
</context>
<context>
    <name>Column</name>
    <message>
        <source>reading the prompt</source>
        <translation>leyendo la pregunta</translation>
    </message>
    <message>
        <source>{tokens} tokens, {seconds:.1f} s</source>
        <translation>{tokens} tokens, {seconds:.1f} s</translation>
    </message>
    <message>
        <source>not run</source>
        <translation>sin ejecutar</translation>
    </message>
    <message>
        <source>{rate:.0f} tok/s · first {seconds:.1f} s · {tokens} tokens</source>
        <translation>{rate:.0f} tok/s · inicio {seconds:.1f} s · {tokens} tokens</translation>
    </message>
</context>
<context>
    <name>Commands</name>
    <message>
        <source>“{title}” is in the bin and stays there for 30 days.</source>
        <translation>«{title}» está en la papelera y se queda ahí 30 días.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Deshacer</translation>
    </message>
    <message>
        <source>Remove {count} chats for ever? This cannot be undone.</source>
        <translation>¿Borrar {count} conversaciones para siempre? No se puede deshacer.</translation>
    </message>
    <message>
        <source>Remove “{title}” for ever? This cannot be undone.</source>
        <translation>¿Borrar «{title}» para siempre? No se puede deshacer.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Borrar</translation>
    </message>
    <message>
        <source>Chats with versions and figures (*.json)</source>
        <translation>Conversaciones con versiones y cifras (*.json)</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation>Página web (*.html)</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>Conversaciones</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportar</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Conversación</translation>
    </message>
    <message>
        <source>Exporting: {count} messages</source>
        <translation>Exportando: {count} mensajes</translation>
    </message>
    <message>
        <source>Exported to {file}.</source>
        <translation>Exportado a {file}.</translation>
    </message>
    <message>
        <source>Chats of Borrador, ChatGPT or Open WebUI (*.json *.zip)</source>
        <translation>Conversaciones de Borrador, ChatGPT u Open WebUI (*.json *.zip)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Todos los archivos (*)</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>Importar</translation>
    </message>
    <message>
        <source>{file} was written by a newer Borrador; update, then import it.</source>
        <translation>{file} es de un Borrador más nuevo; actualiza y luego impórtalo.</translation>
    </message>
    <message>
        <source>{file} is no export of chats: it holds no JSON.</source>
        <translation>{file} no es una exportación de conversaciones: no contiene JSON.</translation>
    </message>
    <message>
        <source>{file} holds no chats of Borrador, ChatGPT or Open WebUI.</source>
        <translation>{file} no contiene conversaciones de Borrador, ChatGPT ni Open WebUI.</translation>
    </message>
    <message>
        <source>{file} cannot be read: {detail}.</source>
        <translation>No se puede leer {file}: {detail}.</translation>
    </message>
    <message>
        <source>{file} ends too early or is damaged; what could be read of it came in.</source>
        <translation>{file} termina antes de tiempo o está dañado; lo que se ha podido leer ya está aquí.</translation>
    </message>
    <message>
        <source>Importing: {count} messages</source>
        <translation>Importando: {count} mensajes</translation>
    </message>
    <message>
        <source>Back up everything</source>
        <translation>Copia de seguridad de todo</translation>
    </message>
    <message>
        <source>Backup (*.sqlite)</source>
        <translation>Copia de seguridad (*.sqlite)</translation>
    </message>
    <message>
        <source>Everything is in {file}.</source>
        <translation>Todo está en {file}.</translation>
    </message>
    <message>
        <source>Backing up: {count} messages</source>
        <translation>Copiando: {count} mensajes</translation>
    </message>
    <message>
        <source>Restore a backup</source>
        <translation>Restaurar una copia de seguridad</translation>
    </message>
    <message>
        <source>Restoring: {count} messages</source>
        <translation>Restaurando: {count} mensajes</translation>
    </message>
    <message>
        <source>{count} new messages came in.</source>
        <translation>Han entrado {count} mensajes nuevos.</translation>
    </message>
    <message>
        <source>The chats themselves are kept in {file}; choose another name.</source>
        <translation>Las propias conversaciones se guardan en {file}; elige otro nombre.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Nothing can come in while the history cannot be written.</source>
        <translation>No puede entrar nada mientras no se pueda escribir en el historial.</translation>
    </message>
    <message>
        <source>The disk is full; free some space and try again.</source>
        <translation>El disco está lleno; libera espacio e inténtalo de nuevo.</translation>
    </message>
    <message>
        <source>The chat was removed for ever meanwhile.</source>
        <translation>Entretanto la conversación se ha borrado para siempre.</translation>
    </message>
    <message>
        <source>This file is no backup of Borrador, or it is damaged.</source>
        <translation>Este archivo no es una copia de seguridad de Borrador o está dañado.</translation>
    </message>
    <message>
        <source>Another program holds the file; try again when it lets go.</source>
        <translation>Otro programa retiene el archivo; inténtalo de nuevo cuando lo suelte.</translation>
    </message>
    <message>
        <source>This backup was made by a newer Borrador; update, then restore it.</source>
        <translation>Esta copia es de un Borrador más nuevo; actualiza y luego restáurala.</translation>
    </message>
    <message>
        <source>This could not be done: {detail}.</source>
        <translation>No se ha podido hacer: {detail}.</translation>
    </message>
</context>
<context>
    <name>Compare</name>
    <message>
        <source>Back to the chat</source>
        <translation>Volver al chat</translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Volver al chat (Esc)</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparar</translation>
    </message>
    <message>
        <source>Open a record…</source>
        <translation>Abrir un registro…</translation>
    </message>
    <message>
        <source>Runs done</source>
        <translation>Ejecuciones hechas</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Detener</translation>
    </message>
    <message>
        <source>Prompt shown</source>
        <translation>Pregunta mostrada</translation>
    </message>
    <message>
        <source>One round, step by step</source>
        <translation>Una ronda, paso a paso</translation>
    </message>
    <message>
        <source>Lay the rounds of the last setting&apos;s reply open</source>
        <translation>Abrir las rondas de la respuesta del último ajuste</translation>
    </message>
    <message>
        <source>Waiting for the engine</source>
        <translation>Esperando al motor</translation>
    </message>
    <message>
        <source>Waiting for the reply in the chat to end; the comparison comes then.</source>
        <translation>Esperando a que termine la respuesta del chat; después viene la comparación.</translation>
    </message>
    <message>
        <source>Open a record</source>
        <translation>Abrir un registro</translation>
    </message>
    <message>
        <source>Records (*.json)</source>
        <translation>Registros (*.json)</translation>
    </message>
    <message>
        <source>it is no text</source>
        <translation>no es texto</translation>
    </message>
    <message>
        <source>{file} is shown.</source>
        <translation>Se muestra {file}.</translation>
    </message>
    <message>
        <source>Run {number} of {total}: {setting}, prompt {prompt}, repeat {repeat}</source>
        <translation>Ejecución {number} de {total}: {setting}, pregunta {prompt}, repetición {repeat}</translation>
    </message>
    <message>
        <source>Done.</source>
        <translation>Hecho.</translation>
    </message>
    <message>
        <source>Stopped; what was measured is kept.</source>
        <translation>Detenida; lo medido se conserva.</translation>
    </message>
</context>
<context>
    <name>Comparing</name>
    <message>
        <source>Waiting for a run of the comparison to end</source>
        <translation>Esperando a que termine una ejecución de la comparación</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Message</source>
        <translation>Mensaje</translation>
    </message>
    <message>
        <source>Attach text, code, PDF or Word files of at most 20 MB (Ctrl+O)</source>
        <translation>Adjuntar archivos de texto, código, PDF o Word de 20 MB como máximo (Ctrl+O)</translation>
    </message>
    <message>
        <source>A file is still being read.</source>
        <translation>Todavía se está leyendo un archivo.</translation>
    </message>
    <message>
        <source>Asking otherwise; the other version stays.</source>
        <translation>Preguntas de otra manera; la otra versión se conserva.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Chat settings (Ctrl+.)</source>
        <translation>Ajustes de la conversación (Ctrl+.)</translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation>No hay ningún modelo cargado</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Detener</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Deteniendo</translation>
    </message>
    <message>
        <source>Pictures cannot be added: models here read text only.</source>
        <translation>No se pueden añadir imágenes: los modelos de aquí solo leen texto.</translation>
    </message>
    <message>
        <source>No model is loaded; sending offers to load one.</source>
        <translation>No hay ningún modelo cargado; al enviar se ofrece cargar uno.</translation>
    </message>
    <message>
        <source>The model is not ready yet; you can already write.</source>
        <translation>El modelo aún no está listo; ya puedes escribir.</translation>
    </message>
    <message>
        <source>Send the message (Enter)</source>
        <translation>Enviar el mensaje (Intro)</translation>
    </message>
    <message>
        <source>Stop writing (Esc)</source>
        <translation>Dejar de escribir (Esc)</translation>
    </message>
    <message>
        <source>The reply is being ended</source>
        <translation>Se está terminando la respuesta</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Enviar</translation>
    </message>
</context>
<context>
    <name>Desk</name>
    <message>
        <source>Attach files</source>
        <translation>Adjuntar archivos</translation>
    </message>
    <message>
        <source>Text, code, PDF and Word files (*)</source>
        <translation>Archivos de texto, código, PDF y Word (*)</translation>
    </message>
    <message>
        <source>about {used} of {context} tokens</source>
        <translation>unos {used} de {context} tokens</translation>
    </message>
    <message>
        <source>about {used} of {context} tokens: too long</source>
        <translation>unos {used} de {context} tokens: demasiado largo</translation>
    </message>
    <message>
        <source>Shorten the message, or load the model with a larger context.</source>
        <translation>Acorta el mensaje o carga el modelo con un contexto mayor.</translation>
    </message>
    <message>
        <source>about {used} of {context} tokens: the oldest turns are left out</source>
        <translation>unos {used} de {context} tokens: los turnos más antiguos quedan fuera</translation>
    </message>
    <message>
        <source>The model reads the newest turns only; everything stays in the chat.</source>
        <translation>El modelo lee solo los turnos más recientes; todo sigue en la conversación.</translation>
    </message>
</context>
<context>
    <name>Discover</name>
    <message>
        <source>Search the hub by name</source>
        <translation>Buscar por nombre en el repositorio</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Buscar</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Licencia</translation>
    </message>
    <message>
        <source>any licence</source>
        <translation>cualquier licencia</translation>
    </message>
    <message>
        <source>free for any use</source>
        <translation>libre para cualquier uso</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Tamaño</translation>
    </message>
    <message>
        <source>any size</source>
        <translation>cualquier tamaño</translation>
    </message>
    <message>
        <source>fits this machine</source>
        <translation>cabe en este equipo</translation>
    </message>
    <message>
        <source>at most {size}</source>
        <translation>como mucho {size}</translation>
    </message>
    <message>
        <source>Models that can be had</source>
        <translation>Modelos que se pueden obtener</translation>
    </message>
    <message>
        <source>Models that suit Borrador; the bar shows what of the memory each takes.</source>
        <translation>Modelos adecuados para Borrador; la barra muestra cuánta memoria ocupa cada uno.</translation>
    </message>
    <message>
        <source>The hub knows no model of that name that can be loaded here.</source>
        <translation>El repositorio no conoce ningún modelo de ese nombre que se pueda cargar aquí.</translation>
    </message>
    <message>
        <source>The filters leave none of what was found.</source>
        <translation>Los filtros no dejan nada de lo encontrado.</translation>
    </message>
    <message>
        <source>{count} models, most fetched first</source>
        <translation>{count} modelos, primero los más descargados</translation>
    </message>
    <message>
        <source>for this machine</source>
        <translation>para este equipo</translation>
    </message>
    <message>
        <source>installed</source>
        <translation>instalado</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Cargar</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Descargar</translation>
    </message>
    <message>
        <source>asks you to accept its licence</source>
        <translation>pide que aceptes su licencia</translation>
    </message>
    <message>
        <source>has heads that draft</source>
        <translation>tiene cabezas que hacen borradores</translation>
    </message>
</context>
<context>
    <name>Downloads</name>
    <message>
        <source>Downloads</source>
        <translation>Descargas</translation>
    </message>
    <message>
        <source>Nothing is being fetched. What you download shows here.</source>
        <translation>No se está descargando nada. Aquí aparece lo que descargues.</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausar</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Reanudar</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Elegir…</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>Abrir su página</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Cargar</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>Quitar</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>en espera</translation>
    </message>
    <message>
        <source>importing</source>
        <translation>importando</translation>
    </message>
    <message>
        <source>downloading</source>
        <translation>descargando</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>en pausa</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>detenido</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>listo</translation>
    </message>
    <message>
        <source>{size} are kept.</source>
        <translation>Se conservan {size}.</translation>
    </message>
    <message>
        <source>Cancel the download</source>
        <translation>Cancelar la descarga</translation>
    </message>
    <message>
        <source>{size} of {name} are here.</source>
        <translation>Ya hay {size} de {name}.</translation>
    </message>
    <message>
        <source>Kept, they are not fetched again when you download it another time.</source>
        <translation>Si se conservan, no se vuelven a descargar la próxima vez.</translation>
    </message>
    <message>
        <source>Keep them</source>
        <translation>Conservarlos</translation>
    </message>
    <message>
        <source>Remove them</source>
        <translation>Eliminarlos</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Continuar</translation>
    </message>
    <message>
        <source>Choose a file</source>
        <translation>Elegir un archivo</translation>
    </message>
    <message>
        <source>Fewer bits take less memory and lose quality; Q4_K_M is a usual choice.</source>
        <translation>Con menos bits ocupa menos memoria y pierde calidad; Q4_K_M es lo habitual.</translation>
    </message>
</context>
<context>
    <name>DraftView</name>
    <message>
        <source>Draft</source>
        <translation>Borrador</translation>
    </message>
    <message>
        <source>Left and right go from step to step</source>
        <translation>Izquierda y derecha van de paso en paso</translation>
    </message>
</context>
<context>
    <name>DrafterBox</name>
    <message>
        <source>Drafter</source>
        <translation>Borrador de</translation>
    </message>
    <message>
        <source>What drafts, from the next round on</source>
        <translation>Qué hace los borradores, desde la próxima ronda</translation>
    </message>
    <message>
        <source>no drafter</source>
        <translation>ninguno</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>Find in this chat</source>
        <translation>Buscar en este chat</translation>
    </message>
    <message>
        <source>Previous (Shift+Enter)</source>
        <translation>Anterior (Mayús+Intro)</translation>
    </message>
    <message>
        <source>Next (Enter)</source>
        <translation>Siguiente (Intro)</translation>
    </message>
    <message>
        <source>Close (Escape)</source>
        <translation>Cerrar (Esc)</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>no se encuentra</translation>
    </message>
    <message>
        <source>{place} of {count}</source>
        <translation>{place} de {count}</translation>
    </message>
</context>
<context>
    <name>Form</name>
    <message>
        <source>0 always takes the likeliest word</source>
        <translation>0 toma siempre la palabra más probable</translation>
    </message>
    <message>
        <source>Only the likeliest words that together have this share</source>
        <translation>Solo las palabras más probables que juntas suman esta parte</translation>
    </message>
    <message>
        <source>drawn for each reply</source>
        <translation>al azar en cada respuesta</translation>
    </message>
    <message>
        <source>Only so many of the likeliest words; 0 for all</source>
        <translation>Solo tantas de las palabras más probables; 0 para todas</translation>
    </message>
    <message>
        <source>Only words with at least this part of the likeliest one&apos;s odds</source>
        <translation>Solo palabras con al menos esta parte de la probabilidad de la primera</translation>
    </message>
    <message>
        <source>Makes what came before less likely; 1 is off</source>
        <translation>Hace menos probable lo que ya salió; 1 lo desactiva</translation>
    </message>
    <message>
        <source>Against words that the reply already has; 0 is off</source>
        <translation>Contra las palabras que la respuesta ya tiene; 0 lo desactiva</translation>
    </message>
    <message>
        <source>The same, for each time they came; 0 is off</source>
        <translation>Lo mismo, por cada vez que salieron; 0 lo desactiva</translation>
    </message>
    <message>
        <source>The reply does not end before so many tokens</source>
        <translation>La respuesta no termina antes de tantos tokens</translation>
    </message>
    <message>
        <source>One text a line; \n stands for a line break</source>
        <translation>Un texto por línea; \n vale por un salto de línea</translation>
    </message>
    <message>
        <source>One a line, as text=value, from -1000 to 1000</source>
        <translation>Uno por línea, como texto=valor, de -1000 a 1000</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Más</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatura</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Semilla</translation>
    </message>
    <message>
        <source>Longest reply, in tokens</source>
        <translation>Respuesta más larga, en tokens</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Pensamiento</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>Penalización por repetición</translation>
    </message>
    <message>
        <source>Presence penalty</source>
        <translation>Penalización por presencia</translation>
    </message>
    <message>
        <source>Frequency penalty</source>
        <translation>Penalización por frecuencia</translation>
    </message>
    <message>
        <source>Shortest reply, in tokens</source>
        <translation>Respuesta más corta, en tokens</translation>
    </message>
    <message>
        <source>End the reply at</source>
        <translation>Terminar la respuesta en</translation>
    </message>
    <message>
        <source>Change the odds of</source>
        <translation>Cambiar la probabilidad de</translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message>
        <source>Chats</source>
        <translation>Conversaciones</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Conversación nueva</translation>
    </message>
    <message>
        <source>Speculation</source>
        <translation>Especulación</translation>
    </message>
    <message>
        <source>Draft length K</source>
        <translation>Longitud del borrador, K</translation>
    </message>
    <message>
        <source>How many tokens are drafted in a round</source>
        <translation>Cuántos tokens tiene el borrador de cada ronda</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Ajustes</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Rondas</translation>
    </message>
    <message>
        <source>On: drafts begin with the next reply</source>
        <translation>Activa: el borrador empieza con la próxima respuesta</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>Ningún modelo cargado</translation>
    </message>
    <message>
        <source>Loading {name}…</source>
        <translation>Cargando {name}…</translation>
    </message>
    <message>
        <source>K auto</source>
        <translation>K auto</translation>
    </message>
</context>
<context>
    <name>Installed</name>
    <message>
        <source>Installed models</source>
        <translation>Modelos instalados</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Añadir una carpeta…</translation>
    </message>
    <message>
        <source>Import a GGUF file…</source>
        <translation>Importar un archivo GGUF…</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <translation>Buscando modelos…</translation>
    </message>
    <message>
        <source>There is no model here yet. Discover shows which suit this machine.</source>
        <translation>Todavía no hay ningún modelo. En Descubrir se ve cuáles convienen a este equipo.</translation>
    </message>
    <message>
        <source>loaded</source>
        <translation>cargado</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>cargando</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>Descargar de la memoria</translation>
    </message>
    <message>
        <source>Stop loading</source>
        <translation>Dejar de cargar</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Cargar</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>Importar</translation>
    </message>
    <message>
        <source>See its code…</source>
        <translation>Ver su código…</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Eliminar</translation>
    </message>
    <message>
        <source>Unload it first.</source>
        <translation>Antes hay que descargarlo de la memoria.</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Detalles</translation>
    </message>
    <message>
        <source>Reckoning what it takes of the memory…</source>
        <translation>Calculando qué memoria ocupa…</translation>
    </message>
</context>
<context>
    <name>Job</name>
    <message>
        <source>the job ended without a word</source>
        <translation>la tarea terminó sin decir nada</translation>
    </message>
</context>
<context>
    <name>Lab</name>
    <message>
        <source>Back to the chat</source>
        <translation>Volver al chat</translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Volver al chat (Esc)</translation>
    </message>
    <message>
        <source>Earlier round</source>
        <translation>Ronda anterior</translation>
    </message>
    <message>
        <source>Later round</source>
        <translation>Ronda siguiente</translation>
    </message>
    <message>
        <source>Rule</source>
        <translation>Regla</translation>
    </message>
    <message>
        <source>Same text (coupled rule)</source>
        <translation>Mismo texto (regla acoplada)</translation>
    </message>
    <message>
        <source>Same odds (textbook rule)</source>
        <translation>Mismas probabilidades (regla de manual)</translation>
    </message>
    <message>
        <source>Step back</source>
        <translation>Paso atrás</translation>
    </message>
    <message>
        <source>Next step</source>
        <translation>Paso siguiente</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Reproducir</translation>
    </message>
    <message>
        <source>The target sees</source>
        <translation>El modelo ve</translation>
    </message>
    <message>
        <source>The drafter saw</source>
        <translation>El borrador veía</translation>
    </message>
    <message>
        <source>The round is run again</source>
        <translation>La ronda se ejecuta de nuevo</translation>
    </message>
    <message>
        <source>Waiting for the engine to be free</source>
        <translation>Esperando a que el motor quede libre</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Ronda {number}</translation>
    </message>
    <message>
        <source>Round {number} of {count}</source>
        <translation>Ronda {number} de {count}</translation>
    </message>
    <message>
        <source>Step {step} of {count}</source>
        <translation>Paso {step} de {count}</translation>
    </message>
    <message>
        <source>The draft: {tokens}. Now the target checks all of it in one pass.</source>
        <translation>El borrador: {tokens}. Ahora el modelo lo comprueba todo en una pasada.</translation>
    </message>
    <message>
        <source>Nothing was drafted in this round; the target takes a step of its own.</source>
        <translation>En esta ronda no hubo borrador; el modelo da un paso propio.</translation>
    </message>
    <message>
        <source>The round wrote {count} tokens.</source>
        <translation>La ronda escribió {count} tokens.</translation>
    </message>
    <message>
        <source>written by the coupled rule</source>
        <translation>escrita con la regla acoplada</translation>
    </message>
    <message>
        <source>written by the textbook rule</source>
        <translation>escrita con la regla de manual</translation>
    </message>
    <message>
        <source>no draft</source>
        <translation>sin borrador</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>exacto</translation>
    </message>
    <message>
        <source>fast</source>
        <translation>rápido</translation>
    </message>
    <message>
        <source>greedy</source>
        <translation>voraz</translation>
    </message>
    <message>
        <source>temperature {value:.2f}</source>
        <translation>temperatura {value:.2f}</translation>
    </message>
    <message>
        <source>run again, a near tie fell otherwise than then</source>
        <translation>al repetirla, un casi empate cayó de otro modo</translation>
    </message>
    <message>
        <source>One round, step by step</source>
        <translation>Una ronda, paso a paso</translation>
    </message>
</context>
<context>
    <name>Legend</name>
    <message>
        <source>accepted</source>
        <translation>aceptado</translation>
    </message>
    <message>
        <source>correction</source>
        <translation>corrección</translation>
    </message>
    <message>
        <source>bonus</source>
        <translation>extra</translation>
    </message>
    <message>
        <source>Accepted words are underlined, corrections dashed, bonus words dotted</source>
        <translation>Las palabras aceptadas van subrayadas, las correcciones con rayas y las extra con puntos</translation>
    </message>
</context>
<context>
    <name>LevelBox</name>
    <message>
        <source>Thinking</source>
        <translation>Pensamiento</translation>
    </message>
    <message>
        <source>Think</source>
        <translation>Pensar</translation>
    </message>
    <message>
        <source>Do not think</source>
        <translation>No pensar</translation>
    </message>
    <message>
        <source>Think a little</source>
        <translation>Pensar poco</translation>
    </message>
    <message>
        <source>Think hard</source>
        <translation>Pensar mucho</translation>
    </message>
    <message>
        <source>Think as it likes</source>
        <translation>Pensar a su modo</translation>
    </message>
    <message>
        <source>This model&apos;s template has no switch for thinking</source>
        <translation>La plantilla de este modelo no permite elegir si piensa</translation>
    </message>
</context>
<context>
    <name>Loading</name>
    <message>
        <source>Loading</source>
        <translation>Cargando</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation>Elegir carpeta</translation>
    </message>
    <message>
        <source>Load the starter model</source>
        <translation>Cargar el modelo inicial</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Elegir un modelo</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Iniciando</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>At temperature 0 the same reply comes again; raise it in the settings.</source>
        <translation>Con temperatura 0 la respuesta será la misma; súbela en los ajustes.</translation>
    </message>
    <message>
        <source>With a fixed seed the same reply comes again; empty it in the settings.</source>
        <translation>Con una semilla fija la respuesta será la misma; vacíala en los ajustes.</translation>
    </message>
    <message>
        <source>What was found is in another version; stop the reply to see it.</source>
        <translation>Lo encontrado está en otra versión; detén la respuesta para verlo.</translation>
    </message>
    <message>
        <source>The model is not ready yet; try again when it is.</source>
        <translation>El modelo aún no está listo; inténtalo cuando lo esté.</translation>
    </message>
    <message>
        <source>A reply is still being written; stop it first.</source>
        <translation>Todavía se está escribiendo una respuesta; detenla antes.</translation>
    </message>
</context>
<context>
    <name>ModelMenu</name>
    <message>
        <source>Starter model</source>
        <translation>Modelo inicial</translation>
    </message>
    <message>
        <source>Open folder…</source>
        <translation>Abrir carpeta…</translation>
    </message>
    <message>
        <source>All models…</source>
        <translation>Todos los modelos…</translation>
    </message>
    <message>
        <source>Find more models…</source>
        <translation>Buscar más modelos…</translation>
    </message>
    <message>
        <source>Exact where it costs little</source>
        <translation>Exacto donde cuesta poco</translation>
    </message>
    <message>
        <source>Always exact</source>
        <translation>Siempre exacto</translation>
    </message>
    <message>
        <source>Always fast</source>
        <translation>Siempre rápido</translation>
    </message>
    <message>
        <source>Folder of a model</source>
        <translation>Carpeta de un modelo</translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message>
        <source>Back to the chat</source>
        <translation>Volver al chat</translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Volver al chat (Esc)</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelos</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>Instalados</translation>
    </message>
    <message>
        <source>Discover</source>
        <translation>Descubrir</translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation>Descargas</translation>
    </message>
</context>
<context>
    <name>NetworkGroup</name>
    <message>
        <source>Offline: never connect to the hub</source>
        <translation>Sin conexión: no conectar nunca con el repositorio</translation>
    </message>
    <message>
        <source>as the system has it</source>
        <translation>el del sistema</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Guardar</translation>
    </message>
    <message>
        <source>Forget</source>
        <translation>Olvidar</translation>
    </message>
    <message>
        <source>Keep the token</source>
        <translation>Guardar el token</translation>
    </message>
    <message>
        <source>Forget the token</source>
        <translation>Olvidar el token</translation>
    </message>
    <message>
        <source>Address of the hub</source>
        <translation>Dirección del repositorio</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>Proxy</translation>
    </message>
    <message>
        <source>Token of the hub</source>
        <translation>Token del repositorio</translation>
    </message>
    <message>
        <source>The token of HF_TOKEN is used.</source>
        <translation>Se usa el token de HF_TOKEN.</translation>
    </message>
    <message>
        <source>A token is kept in the system&apos;s keyring.</source>
        <translation>Hay un token guardado en el llavero del sistema.</translation>
    </message>
    <message>
        <source>A token is kept in a file that only you can read.</source>
        <translation>Hay un token guardado en un archivo que solo tú puedes leer.</translation>
    </message>
    <message>
        <source>The token that the hub&apos;s own program keeps is used.</source>
        <translation>Se usa el token que guarda el programa del propio repositorio.</translation>
    </message>
    <message>
        <source>There is no token; only models that ask for none can be fetched.</source>
        <translation>No hay token; solo se pueden descargar modelos que no lo pidan.</translation>
    </message>
</context>
<context>
    <name>NoticeBar</name>
    <message>
        <source>Close the notice</source>
        <translation>Cerrar el aviso</translation>
    </message>
</context>
<context>
    <name>Painting</name>
    <message>
        <source>New name</source>
        <translation>Nombre nuevo</translation>
    </message>
</context>
<context>
    <name>Panel</name>
    <message>
        <source>Rounds</source>
        <translation>Rondas</translation>
    </message>
    <message>
        <source>Close the rounds</source>
        <translation>Cerrar las rondas</translation>
    </message>
    <message>
        <source>Close the rounds (Ctrl+J)</source>
        <translation>Cerrar las rondas (Ctrl+J)</translation>
    </message>
    <message>
        <source>Drafts from other chats</source>
        <translation>Borradores de otras charlas</translation>
    </message>
    <message>
        <source>Repeats are found in the chats before this one too, as long as the program runs. Drafts change no word of an answer; nothing of this is stored.</source>
        <translation>Las repeticiones se buscan también en las charlas anteriores, mientras el programa está abierto. Los borradores no cambian ni una palabra de la respuesta; nada de esto se guarda.</translation>
    </message>
    <message>
        <source>Colour the text</source>
        <translation>Colorear el texto</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparar</translation>
    </message>
    <message>
        <source>Run settings side by side (Ctrl+Shift+C)</source>
        <translation>Ejecutar ajustes lado a lado (Ctrl+Shift+C)</translation>
    </message>
    <message>
        <source>Step by step</source>
        <translation>Paso a paso</translation>
    </message>
    <message>
        <source>One round, step by step; Enter does it for the round pointed at</source>
        <translation>Una ronda, paso a paso; Intro lo hace con la ronda señalada</translation>
    </message>
    <message>
        <source>chains only (exact)</source>
        <translation>solo cadenas (exacto)</translation>
    </message>
    <message>
        <source>chains and trees</source>
        <translation>cadenas y árboles</translation>
    </message>
    <message>
        <source>In fast mode a draft may branch; in exact mode it never does.</source>
        <translation>En modo rápido un borrador puede ramificarse; en modo exacto, nunca.</translation>
    </message>
    <message>
        <source>{rate:.0f} tok/s</source>
        <translation>{rate:.0f} tok/s</translation>
    </message>
    <message>
        <source>about {rate:.0f} tok/s</source>
        <translation>unos {rate:.0f} tok/s</translation>
    </message>
    <message>
        <source>{each:.1f} ms x {count}</source>
        <translation>{each:.1f} ms x {count}</translation>
    </message>
    <message>
        <source>{ms:.1f} ms</source>
        <translation>{ms:.1f} ms</translation>
    </message>
    <message>
        <source>Round {number}: K {k}, {accepted} of {drafted} accepted.</source>
        <translation>Ronda {number}: K {k}, {accepted} de {drafted} aceptados.</translation>
    </message>
    <message>
        <source>Round {number}: K {k}, a tree of {drafted}, {accepted} accepted.</source>
        <translation>Ronda {number}: K {k}, un árbol de {drafted}, {accepted} aceptados.</translation>
    </message>
    <message>
        <source>Draft {draft:.1f} ms, verify {verify:.1f} ms.</source>
        <translation>Borrador {draft:.1f} ms, verificación {verify:.1f} ms.</translation>
    </message>
    <message>
        <source>Point at a round to see its words.</source>
        <translation>Señala una ronda para ver sus palabras.</translation>
    </message>
    <message>
        <source>A round is one draft and its check. The first reply will fill this strip.</source>
        <translation>Una ronda es un borrador y su comprobación. La primera respuesta llenará esta tira.</translation>
    </message>
    <message>
        <source>Drafter</source>
        <translation>Borrador de</translation>
    </message>
    <message>
        <source>Accepted</source>
        <translation>Aceptados</translation>
    </message>
    <message>
        <source>Tokens a round</source>
        <translation>Tokens por ronda</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Velocidad</translation>
    </message>
    <message>
        <source>Without speculation</source>
        <translation>Sin especulación</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>Borrador</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>Verificación</translation>
    </message>
    <message>
        <source>Drafts</source>
        <translation>Borradores</translation>
    </message>
</context>
<context>
    <name>Plots</name>
    <message>
        <source>Tokens a second, by setting</source>
        <translation>Tokens por segundo, por ajuste</translation>
    </message>
    <message>
        <source>When the tokens arrived</source>
        <translation>Cuándo llegaron los tokens</translation>
    </message>
    <message>
        <source>Tokens a second</source>
        <translation>Tokens por segundo</translation>
    </message>
    <message>
        <source>seconds after asking</source>
        <translation>segundos tras la pregunta</translation>
    </message>
    <message>
        <source>Tokens that had arrived</source>
        <translation>Tokens llegados</translation>
    </message>
</context>
<context>
    <name>PresetBar</name>
    <message>
        <source>Preset</source>
        <translation>Ajuste guardado</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ninguno</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>Guardados</translation>
    </message>
    <message>
        <source>Save as preset…</source>
        <translation>Guardar con un nombre…</translation>
    </message>
    <message>
        <source>Remove this preset</source>
        <translation>Quitar este</translation>
    </message>
    <message>
        <source>Export presets…</source>
        <translation>Exportar ajustes guardados…</translation>
    </message>
    <message>
        <source>Import presets…</source>
        <translation>Importar ajustes guardados…</translation>
    </message>
    <message>
        <source>Kept as “{name}”.</source>
        <translation>Guardado como «{name}».</translation>
    </message>
    <message>
        <source>“{name}” is removed; its values are still in the fields.</source>
        <translation>«{name}» se ha quitado; sus valores siguen en los campos.</translation>
    </message>
    <message>
        <source>{file} cannot be written: {detail}.</source>
        <translation>No se puede escribir {file}: {detail}.</translation>
    </message>
    <message>
        <source>Exported to {file}.</source>
        <translation>Exportado a {file}.</translation>
    </message>
    <message>
        <source>{file} holds no presets of Borrador.</source>
        <translation>{file} no contiene ajustes guardados de Borrador.</translation>
    </message>
    <message>
        <source>{file} was written by a newer Borrador; update, then import it.</source>
        <translation>{file} es de un Borrador más nuevo; actualiza y luego impórtalo.</translation>
    </message>
    <message>
        <source>{file} cannot be read: {detail}.</source>
        <translation>No se puede leer {file}: {detail}.</translation>
    </message>
    <message>
        <source>Presets that came in: {count}</source>
        <translation>Ajustes guardados que han entrado: {count}</translation>
    </message>
    <message>
        <source>As for new chats</source>
        <translation>Como las nuevas</translation>
    </message>
    <message>
        <source>Save as preset</source>
        <translation>Guardar con un nombre</translation>
    </message>
    <message>
        <source>Name of the preset:</source>
        <translation>Nombre:</translation>
    </message>
    <message>
        <source>Export presets</source>
        <translation>Exportar ajustes guardados</translation>
    </message>
    <message>
        <source>Import presets</source>
        <translation>Importar ajustes guardados</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Todos los archivos (*)</translation>
    </message>
</context>
<context>
    <name>Queue</name>
    <message>
        <source>nothing came for minutes</source>
        <translation>no llegó nada durante minutos</translation>
    </message>
</context>
<context>
    <name>ReplyRecord</name>
    <message>
        <source>Figures of this reply</source>
        <translation>Cifras de esta respuesta</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Valor</translation>
    </message>
    <message>
        <source>Copy figures</source>
        <translation>Copiar cifras</translation>
    </message>
    <message>
        <source>Run both</source>
        <translation>Ejecutar ambos</translation>
    </message>
    <message>
        <source>The same question with speculation off and on, side by side</source>
        <translation>La misma pregunta con especulación y sin ella, lado a lado</translation>
    </message>
    <message>
        <source>Step by step</source>
        <translation>Paso a paso</translation>
    </message>
    <message>
        <source>Keep this seed</source>
        <translation>Conservar esta semilla</translation>
    </message>
    <message>
        <source>The next replies of this chat begin with this seed</source>
        <translation>Las próximas respuestas de esta conversación parten de esta semilla</translation>
    </message>
    <message>
        <source>The figures are on the clipboard.</source>
        <translation>Las cifras están en el portapapeles.</translation>
    </message>
    <message>
        <source>The seed is kept for this chat.</source>
        <translation>La semilla se conserva en esta conversación.</translation>
    </message>
</context>
<context>
    <name>Result</name>
    <message>
        <source>Copy as Markdown</source>
        <translation>Copiar como Markdown</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Guardar…</translation>
    </message>
    <message>
        <source>The whole record (JSON), a line a run (CSV), or a picture (PNG)</source>
        <translation>El registro entero (JSON), una línea por ejecución (CSV) o una imagen (PNG)</translation>
    </message>
    <message>
        <source>The table is on the clipboard.</source>
        <translation>La tabla está en el portapapeles.</translation>
    </message>
    <message>
        <source>Record (*.json)</source>
        <translation>Registro (*.json)</translation>
    </message>
    <message>
        <source>Runs (*.csv)</source>
        <translation>Ejecuciones (*.csv)</translation>
    </message>
    <message>
        <source>Picture (*.png)</source>
        <translation>Imagen (*.png)</translation>
    </message>
    <message>
        <source>Save the comparison</source>
        <translation>Guardar la comparación</translation>
    </message>
    <message>
        <source>comparison</source>
        <translation>comparacion</translation>
    </message>
    <message>
        <source>Saved as {file}.</source>
        <translation>Guardado como {file}.</translation>
    </message>
    <message>
        <source>the picture could not be made</source>
        <translation>no se pudo hacer la imagen</translation>
    </message>
    <message>
        <source>The exact runs did not share one identity, so equal bits are not promised.</source>
        <translation>Las ejecuciones exactas no tuvieron la misma identidad, así que no se prometen bits iguales.</translation>
    </message>
    <message>
        <source>{count} threads</source>
        <translation>{count} hilos</translation>
    </message>
    <message>
        <source>temperature {value:.1f}</source>
        <translation>temperatura {value:.1f}</translation>
    </message>
    <message>
        <source>prompts {count}, repeats {repeats}</source>
        <translation>preguntas {count}, repeticiones {repeats}</translation>
    </message>
    <message>
        <source>ended before its time</source>
        <translation>terminada antes de tiempo</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>Ajustes</translation>
    </message>
    <message>
        <source>the same text as without</source>
        <translation>el mismo texto que sin ella</translation>
    </message>
    <message>
        <source>the same odds as without (textbook)</source>
        <translation>las mismas probabilidades que sin ella (de manual)</translation>
    </message>
    <message>
        <source>What speculation promises. It counts from the next reply on.</source>
        <translation>Lo que promete la especulación. Vale desde la próxima respuesta.</translation>
    </message>
    <message>
        <source>One card computes. Another choice counts from the next start on.</source>
        <translation>Calcula una sola tarjeta. Otra elección vale a partir del próximo inicio.</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>Tamaño del texto</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Tarjeta gráfica</translation>
    </message>
    <message>
        <source>Chats without settings of their own</source>
        <translation>Conversaciones sin ajustes propios</translation>
    </message>
    <message>
        <source>The hub, from which models come</source>
        <translation>El repositorio del que vienen los modelos</translation>
    </message>
    <message>
        <source>Speculation keeps</source>
        <translation>La especulación conserva</translation>
    </message>
</context>
<context>
    <name>Setup</name>
    <message>
        <source>Prompts</source>
        <translation>Preguntas</translation>
    </message>
    <message>
        <source>One prompt</source>
        <translation>Una pregunta</translation>
    </message>
    <message>
        <source>Twelve kinds</source>
        <translation>Doce clases</translation>
    </message>
    <message>
        <source>From a file…</source>
        <translation>De un archivo…</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Pregunta</translation>
    </message>
    <message>
        <source>What all settings should answer</source>
        <translation>Lo que deben responder todos los ajustes</translation>
    </message>
    <message>
        <source>Add a setting</source>
        <translation>Añadir un ajuste</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ejecutar</translation>
    </message>
    <message>
        <source>Prompts of {file}: {count}</source>
        <translation>Preguntas de {file}: {count}</translation>
    </message>
    <message>
        <source>Prompts of {file}: the first {count} of {all}</source>
        <translation>Preguntas de {file}: las primeras {count} de {all}</translation>
    </message>
    <message>
        <source>Twelve prompts of twelve kinds: poem, code, translation, summary and more.</source>
        <translation>Doce preguntas de doce clases: poema, código, traducción, resumen y más.</translation>
    </message>
    <message>
        <source>Asked behind the messages of the chat, while the question stays as it is.</source>
        <translation>Se pregunta tras los mensajes del chat, mientras la pregunta no cambie.</translation>
    </message>
    <message>
        <source>A text file with a prompt a line, or JSON lines with category and turns.</source>
        <translation>Un archivo de texto con una pregunta por línea, o líneas JSON con category y turns.</translation>
    </message>
    <message>
        <source>Prompts of the record: {count}</source>
        <translation>Preguntas del registro: {count}</translation>
    </message>
    <message>
        <source>File with prompts</source>
        <translation>Archivo con preguntas</translation>
    </message>
    <message>
        <source>Prompts (*.txt *.jsonl);;All files (*)</source>
        <translation>Preguntas (*.txt *.jsonl);;Todos los archivos (*)</translation>
    </message>
    <message>
        <source>Repeats</source>
        <translation>Repeticiones</translation>
    </message>
    <message>
        <source>Tokens at most</source>
        <translation>Tokens como máximo</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatura</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Semilla</translation>
    </message>
</context>
<context>
    <name>Shelf</name>
    <message>
        <source>Folder of a model</source>
        <translation>Carpeta de un modelo</translation>
    </message>
    <message>
        <source>GGUF file of a model</source>
        <translation>Archivo GGUF de un modelo</translation>
    </message>
    <message>
        <source>GGUF files (*.gguf)</source>
        <translation>Archivos GGUF (*.gguf)</translation>
    </message>
    <message>
        <source>Recommended for this machine: {name}, {size}</source>
        <translation>Recomendado para este equipo: {name}, {size}</translation>
    </message>
    <message>
        <source>{name} is here.</source>
        <translation>{name} ya está aquí.</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Cargar</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>Search</source>
        <translation>Buscar</translation>
    </message>
    <message>
        <source>Search titles and messages</source>
        <translation>Buscar en títulos y mensajes</translation>
    </message>
    <message>
        <source>Search titles and messages (Ctrl+K)</source>
        <translation>Buscar en títulos y mensajes (Ctrl+K)</translation>
    </message>
    <message>
        <source>More for all chats</source>
        <translation>Más para todas las conversaciones</translation>
    </message>
    <message>
        <source>The chats cannot be searched now.</source>
        <translation>Ahora no se puede buscar en las conversaciones.</translation>
    </message>
    <message>
        <source>Nothing found.</source>
        <translation>No se ha encontrado nada.</translation>
    </message>
    <message>
        <source>Chats stay here for 30 days.</source>
        <translation>Las conversaciones se quedan aquí 30 días.</translation>
    </message>
    <message>
        <source>Archived chats</source>
        <translation>Conversaciones archivadas</translation>
    </message>
    <message>
        <source>Bin</source>
        <translation>Papelera</translation>
    </message>
    <message>
        <source>Back to the chats</source>
        <translation>Volver a las conversaciones</translation>
    </message>
    <message>
        <source>Chats are listed here as soon as something is asked.</source>
        <translation>Las conversaciones aparecen aquí en cuanto se pregunta algo.</translation>
    </message>
    <message>
        <source>No chat is archived.</source>
        <translation>No hay conversaciones archivadas.</translation>
    </message>
    <message>
        <source>The bin is empty.</source>
        <translation>La papelera está vacía.</translation>
    </message>
</context>
<context>
    <name>StatusBar</name>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message>
        <source>{count} threads</source>
        <translation>{count} hilos</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>exacto</translation>
    </message>
    <message>
        <source>fast</source>
        <translation>rápido</translation>
    </message>
    <message>
        <source>the model {size:.2f} GB</source>
        <translation>el modelo {size:.2f} GB</translation>
    </message>
    <message>
        <source>its low-bit copy {size:.2f} GB</source>
        <translation>su copia de pocos bits {size:.2f} GB</translation>
    </message>
    <message>
        <source>the smaller model {size:.2f} GB</source>
        <translation>el modelo más pequeño {size:.2f} GB</translation>
    </message>
    <message>
        <source>the context {size:.2f} GB</source>
        <translation>el contexto {size:.2f} GB</translation>
    </message>
    <message>
        <source>graphs {size:.2f} GB</source>
        <translation>grafos {size:.2f} GB</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>cargando</translation>
    </message>
    <message>
        <source>stopping</source>
        <translation>deteniendo</translation>
    </message>
    <message>
        <source>reading {percent:.0f} %</source>
        <translation>leyendo {percent:.0f} %</translation>
    </message>
    <message>
        <source>writing</source>
        <translation>escribiendo</translation>
    </message>
    <message>
        <source>no model</source>
        <translation>sin modelo</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>listo</translation>
    </message>
    <message>
        <source>offline</source>
        <translation>sin conexión</translation>
    </message>
    <message>
        <source>Nothing connects to the hub; models that are here can be used.</source>
        <translation>Nada se conecta al hub; se pueden usar los modelos que están aquí.</translation>
    </message>
    <message>
        <source>{used:.1f} of {total:.0f} GB memory</source>
        <translation>{used:.1f} de {total:.0f} GB de memoria</translation>
    </message>
</context>
<context>
    <name>Strip</name>
    <message>
        <source>Rounds</source>
        <translation>Rondas</translation>
    </message>
    <message>
        <source>Left and right go from round to round, Enter lays one open</source>
        <translation>Izquierda y derecha van de ronda en ronda, Intro abre una</translation>
    </message>
</context>
<context>
    <name>Table</name>
    <message>
        <source>Figures</source>
        <translation>Cifras</translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>Chat</source>
        <translation>Conversación</translation>
    </message>
    <message>
        <source>Go to the latest text</source>
        <translation>Ir al texto más reciente</translation>
    </message>
</context>
<context>
    <name>Unloading</name>
    <message>
        <source>{name} is unloaded, and its memory is free.</source>
        <translation>{name} ya no está cargado y su memoria está libre.</translation>
    </message>
    <message>
        <source>Loading {name} was stopped.</source>
        <translation>Se dejó de cargar {name}.</translation>
    </message>
    <message>
        <source>Load {name}</source>
        <translation>Cargar {name}</translation>
    </message>
    <message>
        <source>No model is loaded.</source>
        <translation>No hay ningún modelo cargado.</translation>
    </message>
    <message>
        <source>Load {name} and send</source>
        <translation>Cargar {name} y enviar</translation>
    </message>
    <message>
        <source>Unload {name}</source>
        <translation>Descargar {name} de la memoria</translation>
    </message>
    <message>
        <source>Stop loading</source>
        <translation>Dejar de cargar</translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>What shall we draft?</source>
        <translation>¿Qué escribimos?</translation>
    </message>
    <message>
        <source>A copy of the model drafts, and the model itself checks every word.</source>
        <translation>Una copia del modelo hace el borrador y el propio modelo comprueba cada palabra.</translation>
    </message>
    <message>
        <source>Write a short poem about the sea.</source>
        <translation>Escribe un poema corto sobre el mar.</translation>
    </message>
    <message>
        <source>Explain how a rainbow forms, in five sentences.</source>
        <translation>Explica en cinco frases cómo se forma un arcoíris.</translation>
    </message>
    <message>
        <source>Give me three ideas for a rainy Sunday.</source>
        <translation>Dame tres ideas para un domingo de lluvia.</translation>
    </message>
</context>
<context>
    <name>_List</name>
    <message>
        <source>Chats</source>
        <translation>Conversaciones</translation>
    </message>
</context>
<context>
    <name>_ModelButton</name>
    <message>
        <source>Model: {name}</source>
        <translation>Modelo: {name}</translation>
    </message>
</context>
<context>
    <name>actions</name>
    <message>
        <source>Copy</source>
        <translation>Copiar</translation>
    </message>
    <message>
        <source>Ask otherwise; this version stays</source>
        <translation>Preguntar de otra manera; esta versión se conserva</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Editar</translation>
    </message>
    <message>
        <source>Another reply; this one stays (Ctrl+R)</source>
        <translation>Otra respuesta; esta se conserva (Ctrl+R)</translation>
    </message>
    <message>
        <source>Again</source>
        <translation>Otra vez</translation>
    </message>
    <message>
        <source>Let the reply go on where it ended</source>
        <translation>Que la respuesta siga donde terminó</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Continuar</translation>
    </message>
    <message>
        <source>A new chat with everything up to here</source>
        <translation>Una conversación nueva con todo hasta aquí</translation>
    </message>
    <message>
        <source>Branch</source>
        <translation>Ramificar</translation>
    </message>
    <message>
        <source>With speculation off and on, side by side (Ctrl+Shift+R)</source>
        <translation>Con especulación y sin ella, lado a lado (Ctrl+Shift+R)</translation>
    </message>
    <message>
        <source>Run both</source>
        <translation>Ejecutar ambos</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Tú</translation>
    </message>
    <message>
        <source>A new chat with everything before this; the question can be changed there</source>
        <translation>Una conversación nueva con todo lo anterior; allí se puede cambiar la pregunta</translation>
    </message>
    <message>
        <source>All figures and settings of this reply</source>
        <translation>Todas las cifras y ajustes de esta respuesta</translation>
    </message>
    <message>
        <source>Show {count} earlier turns</source>
        <translation>Mostrar {count} turnos anteriores</translation>
    </message>
    <message>
        <source>Show {count} more characters</source>
        <translation>Mostrar {count} caracteres más</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Pensamiento</translation>
    </message>
    <message>
        <source>Thought</source>
        <translation>Pensado</translation>
    </message>
    <message>
        <source>Thought for {seconds:.1f} s</source>
        <translation>Pensado durante {seconds:.1f} s</translation>
    </message>
    <message>
        <source>Thought for {seconds:.0f} s</source>
        <translation>Pensado durante {seconds:.0f} s</translation>
    </message>
    <message>
        <source>Older version (Alt+Left)</source>
        <translation>Versión anterior (Alt+Izquierda)</translation>
    </message>
    <message>
        <source>Newer version (Alt+Right)</source>
        <translation>Versión siguiente (Alt+Derecha)</translation>
    </message>
    <message>
        <source>Copy this code</source>
        <translation>Copiar este código</translation>
    </message>
    <message>
        <source>{count} more characters are sent but not shown</source>
        <translation>se envían {count} caracteres más, que no se muestran</translation>
    </message>
    <message>
        <source>The reply ended while the model was still thinking</source>
        <translation>La respuesta terminó mientras el modelo aún pensaba</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>interrumpida</translation>
    </message>
    <message>
        <source>Show or hide what the model thought</source>
        <translation>Mostrar u ocultar lo que pensó el modelo</translation>
    </message>
    <message>
        <source>File: {name}, {count} characters</source>
        <translation>Archivo: {name}, {count} caracteres</translation>
    </message>
</context>
<context>
    <name>compare</name>
    <message>
        <source>exact</source>
        <translation>exacto</translation>
    </message>
    <message>
        <source>fast</source>
        <translation>rápido</translation>
    </message>
    <message>
        <source>Off, {mode}</source>
        <translation>Sin borrador, {mode}</translation>
    </message>
    <message>
        <source>K auto</source>
        <translation>K auto</translation>
    </message>
    <message>
        <source>textbook rule</source>
        <translation>regla de manual</translation>
    </message>
    <message>
        <source>coupled</source>
        <translation>acoplada</translation>
    </message>
    <message>
        <source>textbook</source>
        <translation>de manual</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>automático</translation>
    </message>
    <message>
        <source>repeats and self-draft</source>
        <translation>repeticiones y autoborrador</translation>
    </message>
    <message>
        <source>poem</source>
        <translation>poema</translation>
    </message>
    <message>
        <source>story</source>
        <translation>cuento</translation>
    </message>
    <message>
        <source>letter</source>
        <translation>carta</translation>
    </message>
    <message>
        <source>code</source>
        <translation>código</translation>
    </message>
    <message>
        <source>translation</source>
        <translation>traducción</translation>
    </message>
    <message>
        <source>summary</source>
        <translation>resumen</translation>
    </message>
    <message>
        <source>rewriting</source>
        <translation>reescritura</translation>
    </message>
    <message>
        <source>extraction</source>
        <translation>extracción</translation>
    </message>
    <message>
        <source>question</source>
        <translation>pregunta</translation>
    </message>
    <message>
        <source>arithmetic</source>
        <translation>cálculo</translation>
    </message>
    <message>
        <source>list</source>
        <translation>lista</translation>
    </message>
    <message>
        <source>from a text</source>
        <translation>de un texto</translation>
    </message>
    <message>
        <source>{setting}: identical to “{reference}” in {identical} of {prompts}</source>
        <translation>{setting}: idéntico a «{reference}» en {identical} de {prompts}</translation>
    </message>
    <message>
        <source>{setting}: not the same in every repeat, {identical} of {prompts}</source>
        <translation>{setting}: no es igual en cada repetición, {identical} de {prompts}</translation>
    </message>
    <message>
        <source>{setting}: identical to “{reference}” in {identical} of {prompts} only</source>
        <translation>{setting}: idéntico a «{reference}» solo en {identical} de {prompts}</translation>
    </message>
    <message>
        <source>First difference in prompt {prompt}, token {token}: {mine} instead of {theirs}</source>
        <translation>Primera diferencia en la pregunta {prompt}, token {token}: {mine} en vez de {theirs}</translation>
    </message>
    <message>
        <source>First difference in prompt {prompt}, turn {turn}, token {token}: {mine} instead of {theirs}</source>
        <translation>Primera diferencia en la pregunta {prompt}, turno {turn}, token {token}: {mine} en vez de {theirs}</translation>
    </message>
    <message>
        <source>logit gap {gap:.3f}, in its own pass {own:.3f}</source>
        <translation>distancia de logits {gap:.3f}, en su propia pasada {own:.3f}</translation>
    </message>
    <message>
        <source>The textbook rule keeps the odds, not the text.</source>
        <translation>La regla de manual conserva las probabilidades, no el texto.</translation>
    </message>
    <message>
        <source>A near tie: rounding tips it.</source>
        <translation>Casi un empate: decide el redondeo.</translation>
    </message>
    <message>
        <source>A near tie, but exact mode should leave none to chance.</source>
        <translation>Casi un empate, pero el modo exacto no debería dejar ninguno al azar.</translation>
    </message>
    <message>
        <source>No near tie: something else than rounding chose this token.</source>
        <translation>No es casi un empate: algo distinto del redondeo eligió este token.</translation>
    </message>
    <message>
        <source>the end</source>
        <translation>el final</translation>
    </message>
    <message>
        <source>Tokens a second</source>
        <translation>Tokens por segundo</translation>
    </message>
    <message>
        <source>Of decoding: median, and the middle half of the runs</source>
        <translation>De la decodificación: mediana, y la mitad central de las ejecuciones</translation>
    </message>
    <message>
        <source>First token after, s</source>
        <translation>Primer token tras, s</translation>
    </message>
    <message>
        <source>Whole reply, s</source>
        <translation>Respuesta entera, s</translation>
    </message>
    <message>
        <source>Tokens a round</source>
        <translation>Tokens por ronda</translation>
    </message>
    <message>
        <source>Accepted</source>
        <translation>Aceptados</translation>
    </message>
    <message>
        <source>Accepted by depth</source>
        <translation>Aceptados por profundidad</translation>
    </message>
    <message>
        <source>Of the first drafted token of a round, of the second, and so on</source>
        <translation>Del primer token propuesto de una ronda, del segundo, etcétera</translation>
    </message>
    <message>
        <source>Draft, ms a round</source>
        <translation>Borrador, ms por ronda</translation>
    </message>
    <message>
        <source>Verify, ms a round</source>
        <translation>Verificación, ms por ronda</translation>
    </message>
    <message>
        <source>Memory, MB</source>
        <translation>Memoria, MB</translation>
    </message>
    <message>
        <source>Energy, J a token</source>
        <translation>Energía, J por token</translation>
    </message>
    <message>
        <source>Identical text</source>
        <translation>Texto idéntico</translation>
    </message>
    <message>
        <source>Identity</source>
        <translation>Identidad</translation>
    </message>
    <message>
        <source>Names kernels, threads, precision and width; equal ones give equal bits</source>
        <translation>Nombra kernels, hilos, precisión y anchura; las iguales dan bits iguales</translation>
    </message>
    <message>
        <source>Times as fast as “{setting}”</source>
        <translation>Veces más rápido que «{setting}»</translation>
    </message>
    <message>
        <source>With the interval that holds it in 95 of 100 cases (bootstrap)</source>
        <translation>Con el intervalo que lo contiene en 95 de 100 casos (bootstrap)</translation>
    </message>
    <message>
        <source>{identical} of {prompts}</source>
        <translation>{identical} de {prompts}</translation>
    </message>
    <message>
        <source>yes, {count}</source>
        <translation>sí, {count}</translation>
    </message>
    <message>
        <source>; from token {token} on</source>
        <translation>; desde el token {token}</translation>
    </message>
    <message>
        <source>it is no file</source>
        <translation>no es un archivo</translation>
    </message>
    <message>
        <source>it is too large</source>
        <translation>es demasiado grande</translation>
    </message>
</context>
<context>
    <name>exchange</name>
    <message>
        <source>Reply</source>
        <translation>Respuesta</translation>
    </message>
    <message>
        <source>seed {seed}</source>
        <translation>semilla {seed}</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Conversación</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Tú</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <source>{rate:.0f} tok/s</source>
        <translation>{rate:.0f} tok/s</translation>
    </message>
    <message>
        <source>first {seconds:.1f} s</source>
        <translation>inicio {seconds:.1f} s</translation>
    </message>
    <message>
        <source>{percent:.0f} % accepted</source>
        <translation>{percent:.0f} % aceptado</translation>
    </message>
    <message>
        <source>no drafts</source>
        <translation>sin borrador</translation>
    </message>
    <message>
        <source>self-draft</source>
        <translation>autoborrador</translation>
    </message>
    <message>
        <source>self-draft {bits:.0f}-bit</source>
        <translation>autoborrador de {bits:.0f} bits</translation>
    </message>
</context>
<context>
    <name>history</name>
    <message>
        <source>Another program holds the history in {folder}; what you write now is kept and stored when it lets go.</source>
        <translation>Otro programa retiene el historial de {folder}; lo que escribas ahora se conserva y se guarda cuando lo suelte.</translation>
    </message>
    <message>
        <source>The disk with {folder} is full; free some space, and what you write now is stored then.</source>
        <translation>El disco de {folder} está lleno; libera espacio y lo que escribas ahora se guardará entonces.</translation>
    </message>
    <message>
        <source>The history in {folder} cannot be written ({detail}); what you write now goes into a file in your home folder at the end, and comes back when it can.</source>
        <translation>No se puede escribir en el historial de {folder} ({detail}); lo que escribas ahora irá al final a un archivo de tu carpeta personal y volverá cuando se pueda.</translation>
    </message>
    <message>
        <source>The history in {folder} cannot be read ({detail}) and is left as it is; what you write now goes into a file in your home folder at the end, and comes back when it can.</source>
        <translation>No se puede leer el historial de {folder} ({detail}) y se deja como está; lo que escribas ahora irá al final a un archivo de tu carpeta personal y volverá cuando se pueda.</translation>
    </message>
    <message>
        <source>The history was damaged; {count} messages were saved, and the damaged file is kept as {file}.</source>
        <translation>El historial estaba dañado; se han salvado {count} mensajes y el archivo dañado se conserva como {file}.</translation>
    </message>
    <message>
        <source>The history in {folder} is damaged ({detail}); restore a backup or start again.</source>
        <translation>El historial de {folder} está dañado ({detail}); restaura una copia de seguridad o vuelve a empezar.</translation>
    </message>
    <message>
        <source>The history was empty; {count} messages came back from a backup, and the file is kept as {file}.</source>
        <translation>El historial estaba vacío; {count} mensajes han vuelto de una copia de seguridad y el archivo se conserva como {file}.</translation>
    </message>
    <message>
        <source>The history in {folder} is of a newer Borrador and stays as it is; until you update, chats are kept beside it.</source>
        <translation>El historial de {folder} es de un Borrador más nuevo y se queda como está; hasta que actualices, las conversaciones se guardan a su lado.</translation>
    </message>
    <message>
        <source>There is no chat to export.</source>
        <translation>No hay ninguna conversación que exportar.</translation>
    </message>
    <message>
        <source>The history had a problem ({detail}); it is tried again every second.</source>
        <translation>El historial ha tenido un problema ({detail}); se vuelve a intentar cada segundo.</translation>
    </message>
</context>
<context>
    <name>links</name>
    <message>
        <source>Open a link</source>
        <translation>Abrir un enlace</translation>
    </message>
    <message>
        <source>Open this address outside Borrador? The model wrote it.</source>
        <translation>¿Abrir esta dirección fuera de Borrador? La escribió el modelo.</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Abrir</translation>
    </message>
    <message>
        <source>Copy address</source>
        <translation>Copiar la dirección</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
</context>
<context>
    <name>menus</name>
    <message>
        <source>Chats</source>
        <translation>Conversaciones</translation>
    </message>
    <message>
        <source>Archived chats</source>
        <translation>Conversaciones archivadas</translation>
    </message>
    <message>
        <source>Bin</source>
        <translation>Papelera</translation>
    </message>
    <message>
        <source>New folder…</source>
        <translation>Carpeta nueva…</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>Importar…</translation>
    </message>
    <message>
        <source>Export all…</source>
        <translation>Exportar todo…</translation>
    </message>
    <message>
        <source>Back up everything…</source>
        <translation>Copia de seguridad de todo…</translation>
    </message>
    <message>
        <source>Restore a backup…</source>
        <translation>Restaurar una copia de seguridad…</translation>
    </message>
    <message>
        <source>Empty the bin…</source>
        <translation>Vaciar la papelera…</translation>
    </message>
    <message>
        <source>Put back</source>
        <translation>Recuperar</translation>
    </message>
    <message>
        <source>Remove for ever…</source>
        <translation>Borrar para siempre…</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Cambiar el nombre</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Desfijar</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Fijar</translation>
    </message>
    <message>
        <source>Take out of the archive</source>
        <translation>Sacar del archivo</translation>
    </message>
    <message>
        <source>Archive</source>
        <translation>Archivar</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Carpeta</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Ninguna</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportar…</translation>
    </message>
    <message>
        <source>Move to the bin</source>
        <translation>Mover a la papelera</translation>
    </message>
    <message>
        <source>Remove the folder, keep its chats</source>
        <translation>Quitar la carpeta y conservar sus conversaciones</translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>Carpeta nueva</translation>
    </message>
    <message>
        <source>Name of the folder:</source>
        <translation>Nombre de la carpeta:</translation>
    </message>
</context>
<context>
    <name>models</name>
    <message>
        <source>model</source>
        <translation>modelo</translation>
    </message>
    <message>
        <source>low-bit copy</source>
        <translation>copia de pocos bits</translation>
    </message>
    <message>
        <source>drafting heads</source>
        <translation>cabezas de borrador</translation>
    </message>
    <message>
        <source>context</source>
        <translation>contexto</translation>
    </message>
    <message>
        <source>work space</source>
        <translation>espacio de trabajo</translation>
    </message>
    <message>
        <source>CUDA graphs</source>
        <translation>grafos CUDA</translation>
    </message>
    <message>
        <source>other programs</source>
        <translation>otros programas</translation>
    </message>
    <message>
        <source>free</source>
        <translation>libre</translation>
    </message>
    <message>
        <source>context {count}</source>
        <translation>contexto {count}</translation>
    </message>
    <message>
        <source>comes with Borrador</source>
        <translation>viene con Borrador</translation>
    </message>
    <message>
        <source>converted here</source>
        <translation>convertido aquí</translation>
    </message>
    <message>
        <source>from the hub</source>
        <translation>del repositorio</translation>
    </message>
    <message>
        <source>in your folders</source>
        <translation>en tus carpetas</translation>
    </message>
    <message>
        <source>{size:.1f} GB</source>
        <translation>{size:.1f} GB</translation>
    </message>
    <message>
        <source>{size:.0f} MB</source>
        <translation>{size:.0f} MB</translation>
    </message>
    <message>
        <source>{count:.1f} billion parameters</source>
        <translation>{count:.1f} mil millones de parámetros</translation>
    </message>
    <message>
        <source>{count:.0f} million parameters</source>
        <translation>{count:.0f} millones de parámetros</translation>
    </message>
    <message>
        <source>{hours:.1f} h left</source>
        <translation>quedan {hours:.1f} h</translation>
    </message>
    <message>
        <source>{minutes:.0f} min left</source>
        <translation>quedan {minutes:.0f} min</translation>
    </message>
    <message>
        <source>{seconds:.0f} s left</source>
        <translation>quedan {seconds:.0f} s</translation>
    </message>
    <message>
        <source>{done} of {whole}</source>
        <translation>{done} de {whole}</translation>
    </message>
    <message>
        <source>{speed:.1f} MB/s</source>
        <translation>{speed:.1f} MB/s</translation>
    </message>
    <message>
        <source>Architecture: {text}</source>
        <translation>Arquitectura: {text}</translation>
    </message>
    <message>
        <source>Has a chat template</source>
        <translation>Tiene plantilla de chat</translation>
    </message>
    <message>
        <source>Has no chat template</source>
        <translation>No tiene plantilla de chat</translation>
    </message>
    <message>
        <source>Memory: {text}</source>
        <translation>Memoria: {text}</translation>
    </message>
    <message>
        <source>Folder: {text}</source>
        <translation>Carpeta: {text}</translation>
    </message>
    <message>
        <source>Revision: {text}</source>
        <translation>Revisión: {text}</translation>
    </message>
    <message>
        <source>Can draft for it: {text}</source>
        <translation>Le pueden hacer borradores: {text}</translation>
    </message>
    <message>
        <source>Cannot draft for it: {text} ({reason})</source>
        <translation>No le pueden hacer borradores: {text} ({reason})</translation>
    </message>
</context>
<context>
    <name>presets</name>
    <message>
        <source>Balanced</source>
        <translation>Equilibrado</translation>
    </message>
    <message>
        <source>Precise</source>
        <translation>Preciso</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Libre</translation>
    </message>
</context>
<context>
    <name>record</name>
    <message>
        <source>Temperature</source>
        <translation>Temperatura</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Semilla</translation>
    </message>
    <message>
        <source>{percent:.0f} %</source>
        <translation>{percent:.0f} %</translation>
    </message>
    <message>
        <source>{accepted} of {tested} tested, {drafted} drafted</source>
        <translation>{accepted} de {tested} comprobados, {drafted} propuestos</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminada</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Tokens a second</source>
        <translation>Tokens por segundo</translation>
    </message>
    <message>
        <source>Without speculation, about</source>
        <translation>Sin especulación, unos</translation>
    </message>
    <message>
        <source>First token after, s</source>
        <translation>Primer token tras, s</translation>
    </message>
    <message>
        <source>Whole reply, s</source>
        <translation>Respuesta entera, s</translation>
    </message>
    <message>
        <source>Prompt, tokens</source>
        <translation>Pregunta, tokens</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Rondas</translation>
    </message>
    <message>
        <source>Tokens a round</source>
        <translation>Tokens por ronda</translation>
    </message>
    <message>
        <source>Accepted</source>
        <translation>Aceptados</translation>
    </message>
    <message>
        <source>Accepted tokens</source>
        <translation>Tokens aceptados</translation>
    </message>
    <message>
        <source>Accepted by depth</source>
        <translation>Aceptados por profundidad</translation>
    </message>
    <message>
        <source>Rounds by draft length</source>
        <translation>Rondas por longitud de borrador</translation>
    </message>
    <message>
        <source>Draft, ms a round</source>
        <translation>Borrador, ms por ronda</translation>
    </message>
    <message>
        <source>Verify, ms a round</source>
        <translation>Verificación, ms por ronda</translation>
    </message>
    <message>
        <source>Drafter</source>
        <translation>Borrador de</translation>
    </message>
    <message>
        <source>K</source>
        <translation>K</translation>
    </message>
    <message>
        <source>Rule</source>
        <translation>Regla</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>Modo</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modelo</translation>
    </message>
    <message>
        <source>Begun</source>
        <translation>Empezada</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>interrumpida</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Nota</translation>
    </message>
    <message>
        <source>Parts written one after the other</source>
        <translation>Partes escritas una tras otra</translation>
    </message>
    <message>
        <source>{seed}, fixed</source>
        <translation>{seed}, fija</translation>
    </message>
    <message>
        <source>{seed}, drawn</source>
        <translation>{seed}, al azar</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>Penalización por repetición</translation>
    </message>
    <message>
        <source>Presence penalty</source>
        <translation>Penalización por presencia</translation>
    </message>
    <message>
        <source>Frequency penalty</source>
        <translation>Penalización por frecuencia</translation>
    </message>
    <message>
        <source>Shortest reply, in tokens</source>
        <translation>Respuesta más corta, en tokens</translation>
    </message>
    <message>
        <source>Longest reply, in tokens</source>
        <translation>Respuesta más larga, en tokens</translation>
    </message>
    <message>
        <source>End at</source>
        <translation>Termina en</translation>
    </message>
    <message>
        <source>Changed odds</source>
        <translation>Probabilidades cambiadas</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Pensamiento</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Instrucciones del sistema</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>Identity</source>
        <translation>Identidad</translation>
    </message>
    <message>
        <source>Versions</source>
        <translation>Versiones</translation>
    </message>
    <message>
        <source>{count}, of these {reused} still in the cache</source>
        <translation>{count}, de ellos {reused} aún en la caché</translation>
    </message>
</context>
<context>
    <name>sections</name>
    <message>
        <source>Pinned</source>
        <translation>Fijadas</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Nueva conversación</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Hoy</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Ayer</translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation>Últimos 7 días</translation>
    </message>
    <message>
        <source>Last 30 days</source>
        <translation>Últimos 30 días</translation>
    </message>
</context>
<context>
    <name>sentences</name>
    <message>
        <source>Starting the numerical libraries</source>
        <translation>Iniciando las bibliotecas numéricas</translation>
    </message>
    <message>
        <source>Preparing the starter model, once</source>
        <translation>Preparando el modelo inicial, solo esta vez</translation>
    </message>
    <message>
        <source>Reading {model}</source>
        <translation>Leyendo {model}</translation>
    </message>
    <message>
        <source>The low-bit copy is {recipe}: a drafted token costs {cost:.2f} of a plain step, {accepted:.0f} % of first ones are right, so about {speed:.2f} times as fast as without</source>
        <translation>La copia de pocos bits es {recipe}: un token del borrador cuesta {cost:.2f} de un paso sencillo y el {accepted:.0f} % de los primeros acierta, así que es unas {speed:.2f} veces más rápido que sin ella</translation>
    </message>
    <message>
        <source>{recipe}: {cost:.2f}, {accepted:.0f} %, {speed:.2f} times</source>
        <translation>{recipe}: {cost:.2f}, {accepted:.0f} %, {speed:.2f} veces</translation>
    </message>
    <message>
        <source>Measuring this machine</source>
        <translation>Midiendo este equipo</translation>
    </message>
    <message>
        <source>Preparing the card: {done} of {total} kinds of passes</source>
        <translation>Preparando la tarjeta: {done} de {total} tipos de pasadas</translation>
    </message>
    <message>
        <source>This card runs without graphs and low-bit kernels, so steps are slower: {reason}</source>
        <translation>Esta tarjeta trabaja sin grafos ni núcleos de pocos bits, así que los pasos son más lentos: {reason}</translation>
    </message>
    <message>
        <source>Compiling the products for this processor, once</source>
        <translation>Compilando los productos para este procesador, una sola vez</translation>
    </message>
    <message>
        <source>Testing that several rows give the same bits as one</source>
        <translation>Comprobando que varias filas dan los mismos bits que una</translation>
    </message>
    <message>
        <source>{model} is ready on {device}</source>
        <translation>{model} está listo en {device}</translation>
    </message>
    <message>
        <source>Waiting for another Borrador to finish preparing the starter model</source>
        <translation>Esperando a que otro Borrador termine de preparar el modelo inicial</translation>
    </message>
    <message>
        <source>Unpacking the starter model</source>
        <translation>Desempaquetando el modelo inicial</translation>
    </message>
    <message>
        <source>Converting the starter model, once (about 20 seconds)</source>
        <translation>Convirtiendo el modelo inicial, solo esta vez (unos 20 segundos)</translation>
    </message>
    <message>
        <source>Takes about {needed_gb:.1f} of the {free_gb:.1f} GB that are free on the GPU</source>
        <translation>Ocupa unos {needed_gb:.1f} de los {free_gb:.1f} GB libres de la GPU</translation>
    </message>
    <message>
        <source>Needs about {needed_gb:.1f} GB; the GPU has {free_gb:.1f} GB free</source>
        <translation>Necesita unos {needed_gb:.1f} GB; la GPU tiene {free_gb:.1f} GB libres</translation>
    </message>
    <message>
        <source>Takes about {needed_gb:.1f} of the {free_gb:.1f} GB of memory that are free</source>
        <translation>Ocupa unos {needed_gb:.1f} de los {free_gb:.1f} GB libres de memoria</translation>
    </message>
    <message>
        <source>Needs about {needed_gb:.1f} GB of memory; {free_gb:.1f} GB are free</source>
        <translation>Necesita unos {needed_gb:.1f} GB de memoria; hay {free_gb:.1f} GB libres</translation>
    </message>
    <message>
        <source>With the smaller copy {recipe} it would fit.</source>
        <translation>Con la copia más pequeña {recipe} cabría.</translation>
    </message>
    <message>
        <source>Without the low-bit copy it would fit.</source>
        <translation>Sin la copia de pocos bits cabría.</translation>
    </message>
    <message>
        <source>With a context of {context} tokens and no low-bit copy it would fit.</source>
        <translation>Con un contexto de {context} tokens y sin la copia de pocos bits cabría.</translation>
    </message>
    <message>
        <source>In bfloat16 it would fit.</source>
        <translation>En bfloat16 cabría.</translation>
    </message>
    <message>
        <source>With 8 bits for each weight it would fit.</source>
        <translation>Con 8 bits por peso cabría.</translation>
    </message>
    <message>
        <source>With 4 bits for each weight it would fit; repeats of the chat (n-gram) would draft, as a low-bit copy does not pay beside 4 bits.</source>
        <translation>Con 4 bits por peso cabría; harían el borrador las repeticiones del chat (n-grama), pues una copia de pocos bits no compensa junto a 4 bits.</translation>
    </message>
    <message>
        <source>{card} GB card: {dtype}, about {speed:.1f}x with K {k} (forecast, at {percent:.0f} % accepted)</source>
        <translation>Tarjeta de {card} GB: {dtype}, alrededor de {speed:.1f}x con K {k} (previsión, con {percent:.0f} % de aceptación)</translation>
    </message>
    <message>
        <source>{card} GB card: {dtype}; a draft would hardly gain anything (forecast {speed:.1f}x with K {k} at {percent:.0f} % accepted)</source>
        <translation>Tarjeta de {card} GB: {dtype}; un borrador apenas ganaría nada (previsión {speed:.1f}x con K {k} y {percent:.0f} % de aceptación)</translation>
    </message>
    <message>
        <source>{card} GB card: 4 bits for each weight; repeats of the chat (n-gram) would draft, as a low-bit copy does not pay beside 4 bits</source>
        <translation>Tarjeta de {card} GB: 4 bits por peso; harían el borrador las repeticiones del chat (n-grama), pues una copia de pocos bits no compensa junto a 4 bits</translation>
    </message>
    <message>
        <source>{card} GB card: too small for this model</source>
        <translation>Tarjeta de {card} GB: demasiado pequeña para este modelo</translation>
    </message>
    <message>
        <source>a smaller copy to draft with would fit</source>
        <translation>una copia más pequeña para el borrador cabría</translation>
    </message>
    <message>
        <source>without the low-bit copy it would fit</source>
        <translation>sin la copia de pocos bits cabría</translation>
    </message>
    <message>
        <source>with a smaller context it would fit</source>
        <translation>con un contexto menor cabría</translation>
    </message>
    <message>
        <source>in bfloat16 it would fit</source>
        <translation>en bfloat16 cabría</translation>
    </message>
    <message>
        <source>with 8 bits for each weight it would fit</source>
        <translation>con 8 bits por peso cabría</translation>
    </message>
    <message>
        <source>with 4 bits for each weight it would fit</source>
        <translation>con 4 bits por peso cabría</translation>
    </message>
    <message>
        <source>choose a smaller model, or close other programs</source>
        <translation>elige un modelo más pequeño o cierra otros programas</translation>
    </message>
    <message>
        <source>Searching the hub for {words}</source>
        <translation>Buscando {words} en el repositorio</translation>
    </message>
    <message>
        <source>Asking for the files of {model}</source>
        <translation>Pidiendo los archivos de {model}</translation>
    </message>
    <message>
        <source>Downloading {model}: {done_mb:.0f} of {total_mb:.0f} MB, {speed_mb:.1f} MB/s</source>
        <translation>Descargando {model}: {done_mb:.0f} de {total_mb:.0f} MB, {speed_mb:.1f} MB/s</translation>
    </message>
    <message>
        <source>Waiting for another program that is fetching {model}</source>
        <translation>Esperando a otro programa que está descargando {model}</translation>
    </message>
    <message>
        <source>The hub is busy; going on in {seconds} s</source>
        <translation>El repositorio está ocupado; se sigue dentro de {seconds} s</translation>
    </message>
    <message>
        <source>Checking {file}</source>
        <translation>Comprobando {file}</translation>
    </message>
    <message>
        <source>Converting: {done_m:.0f} of {total_m:.0f} million weights</source>
        <translation>Convirtiendo: {done_m:.0f} de {total_m:.0f} millones de pesos</translation>
    </message>
    <message>
        <source>Writing {model} as safetensors</source>
        <translation>Escribiendo {model} como safetensors</translation>
    </message>
    <message>
        <source>Checking the weights of {model}</source>
        <translation>Comprobando los pesos de {model}</translation>
    </message>
    <message>
        <source>Waiting for another Borrador that is importing {model}</source>
        <translation>Esperando a otro Borrador que está importando {model}</translation>
    </message>
    <message>
        <source>Moving {file}</source>
        <translation>Moviendo {file}</translation>
    </message>
    <message>
        <source>The file names a way of splitting text ({rule}) that is not known here, so its tokens may differ from the original&apos;s; where you can, use a copy with safetensors.</source>
        <translation>El archivo nombra una forma de dividir el texto ({rule}) que aquí no se conoce, así que sus tokens pueden diferir de los del original; si puedes, usa una copia con safetensors.</translation>
    </message>
    <message>
        <source>The line broke; trying again in {seconds} s</source>
        <translation>Se cortó la línea; nuevo intento en {seconds} s</translation>
    </message>
    <message>
        <source>The line stood still; connecting anew</source>
        <translation>La línea se quedó parada; se conecta de nuevo</translation>
    </message>
    <message>
        <source>On: K {k}, {speedup:.1f}x</source>
        <translation>Activa: K {k}, {speedup:.1f}x</translation>
    </message>
    <message>
        <source>On: K {k}, measuring</source>
        <translation>Activa: K {k}, midiendo</translation>
    </message>
    <message>
        <source>Auto: {reason}, K {k}; {rate:.0f} tokens/s so, {plain:.0f} without</source>
        <translation>Auto: {reason}, K {k}; así {rate:.0f} tokens/s, sin ello {plain:.0f}</translation>
    </message>
    <message>
        <source>Hybrid: {reason}, K {k}, {speedup:.1f}x</source>
        <translation>Híbrido: {reason}, K {k}, {speedup:.1f}x</translation>
    </message>
    <message>
        <source>Resting: drafting costs more than it saves here</source>
        <translation>En pausa: aquí el borrador cuesta más de lo que ahorra</translation>
    </message>
    <message>
        <source>Off: every word comes from a step of its own</source>
        <translation>Desactivada: cada palabra sale de un paso propio</translation>
    </message>
    <message>
        <source>Off: K is set to 0</source>
        <translation>Desactivada: K está en 0</translation>
    </message>
    <message>
        <source>Off: {reason}</source>
        <translation>Desactivada: {reason}</translation>
    </message>
    <message>
        <source>no drafter is chosen</source>
        <translation>no se ha elegido quién haga el borrador</translation>
    </message>
    <message>
        <source>the model itself is in few bits, so a copy in fewer saves too little to pay</source>
        <translation>el propio modelo tiene pocos bits, así que una copia con menos ahorra demasiado poco</translation>
    </message>
    <message>
        <source>this model keeps a running state that cannot be rolled back</source>
        <translation>este modelo lleva un estado continuo que no se puede deshacer</translation>
    </message>
    <message>
        <source>this model has no matrices a low-bit copy could be made of</source>
        <translation>este modelo no tiene matrices de las que hacer una copia de pocos bits</translation>
    </message>
    <message>
        <source>plain steps</source>
        <translation>pasos sencillos</translation>
    </message>
    <message>
        <source>self-draft</source>
        <translation>autoborrador</translation>
    </message>
    <message>
        <source>repeats</source>
        <translation>repeticiones</translation>
    </message>
    <message>
        <source>a smaller model</source>
        <translation>un modelo más pequeño</translation>
    </message>
    <message>
        <source>no smaller model was chosen to draft</source>
        <translation>no se ha elegido un modelo más pequeño para los borradores</translation>
    </message>
    <message>
        <source>it joins repeats in the chat with a model that drafts, and there is none yet</source>
        <translation>une las repeticiones de la charla con un modelo que hace borradores, y aún no hay ninguno</translation>
    </message>
    <message>
        <source>this model has no drafter</source>
        <translation>este modelo no tiene con qué hacer borradores</translation>
    </message>
    <message>
        <source>the low-bit copy is still being made</source>
        <translation>la copia de pocos bits todavía se está haciendo</translation>
    </message>
    <message>
        <source>there is not enough memory for a low-bit copy</source>
        <translation>no hay memoria suficiente para una copia de pocos bits</translation>
    </message>
    <message>
        <source>it was not made when the model was loaded</source>
        <translation>no se hizo al cargar el modelo</translation>
    </message>
    <message>
        <source>the low-bit copy could not be made: {detail}</source>
        <translation>no se pudo hacer la copia de pocos bits: {detail}</translation>
    </message>
    <message>
        <source>Exact: speculation changes no bit of the answer</source>
        <translation>Exacto: la especulación no cambia ni un bit de la respuesta</translation>
    </message>
    <message>
        <source>Fast: chosen by you; near ties may fall differently with speculation on and off</source>
        <translation>Rápido: elección tuya; con y sin especulación, los casi empates pueden resolverse de otro modo</translation>
    </message>
    <message>
        <source>Fast: exact mode would cost {percent:.0f} % on this machine</source>
        <translation>Rápido: el modo exacto costaría un {percent:.0f} % en este equipo</translation>
    </message>
    <message>
        <source>Fast: the kernels of these weights give other bits for other row counts</source>
        <translation>Rápido: los núcleos de estos pesos dan otros bits con otro número de filas</translation>
    </message>
    <message>
        <source>Fast: nothing is drafted for this model, so there is nothing to keep equal</source>
        <translation>Rápido: para este modelo no se borronea nada, así que no hay nada que mantener igual</translation>
    </message>
    <message>
        <source>Fast: this machine&apos;s kernels give other bits for other row counts</source>
        <translation>Rápido: en este equipo los cálculos dan otros bits según el número de filas</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>terminada</translation>
    </message>
    <message>
        <source>ended at the stop text</source>
        <translation>terminada en el texto de parada</translation>
    </message>
    <message>
        <source>ended at the limit of {limit} tokens</source>
        <translation>terminada en el límite de {limit} tokens</translation>
    </message>
    <message>
        <source>ended at the end of the context of {limit} tokens</source>
        <translation>terminada al final del contexto de {limit} tokens</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>detenida</translation>
    </message>
    <message>
        <source>interrupted by an error</source>
        <translation>interrumpida por un error</translation>
    </message>
    <message>
        <source>{turns} older turns no longer fit into the context of {limit} tokens and are left out; the model read from “{first}” on</source>
        <translation>{turns} turnos antiguos ya no caben en el contexto de {limit} tokens y quedan fuera; el modelo ha leído desde «{first}»</translation>
    </message>
    <message>
        <source>{turns} older turns no longer fit into the context of {limit} tokens and are left out</source>
        <translation>{turns} turnos antiguos ya no caben en el contexto de {limit} tokens y se omiten</translation>
    </message>
    <message>
        <source>This model brings no chat template; a plain one is used</source>
        <translation>Este modelo no trae plantilla de conversación; se usa una sencilla</translation>
    </message>
    <message>
        <source>This model knows no system role; the system prompt is put before the first question</source>
        <translation>Este modelo no conoce el papel de sistema; sus instrucciones van delante de la primera pregunta</translation>
    </message>
    <message>
        <source>Noting model and machine for the record</source>
        <translation>Anotando modelo y equipo para el registro</translation>
    </message>
    <message>
        <source>Getting the self-draft copy {recipe}</source>
        <translation>Preparando la copia de autoborrador {recipe}</translation>
    </message>
    <message>
        <source>Warming up: {setting}</source>
        <translation>Calentando: {setting}</translation>
    </message>
    <message>
        <source>Looking into the first difference: {setting}</source>
        <translation>Examinando la primera diferencia: {setting}</translation>
    </message>
    <message>
        <source>A comparison has {fewest} to {most} settings.</source>
        <translation>Una comparación tiene de {fewest} a {most} ajustes.</translation>
    </message>
    <message>
        <source>The setting {setting} is there twice; change one of the two.</source>
        <translation>El ajuste {setting} está dos veces; cambie uno de los dos.</translation>
    </message>
    <message>
        <source>This model cannot write in {mode} mode here; choose the other mode.</source>
        <translation>Este modelo no puede escribir aquí en modo {mode}; elija el otro modo.</translation>
    </message>
    <message>
        <source>This file is no record of a comparison ({detail}); choose a JSON file that Compare saved.</source>
        <translation>Este archivo no es el registro de una comparación ({detail}); elija un archivo JSON guardado por Comparar.</translation>
    </message>
    <message>
        <source>This round can no longer be laid open: its reply was not written by the model as it is loaded now. Ask again to see its rounds.</source>
        <translation>Esta ronda ya no se puede abrir: su respuesta no la escribió el modelo tal como está cargado ahora. Pregunte de nuevo para ver sus rondas.</translation>
    </message>
    <message>
        <source>This model keeps a running state, which cannot be set back to an earlier round.</source>
        <translation>Este modelo lleva un estado continuo, que no se puede devolver a una ronda anterior.</translation>
    </message>
    <message>
        <source>The target&apos;s best token is “{token}” ({percent:.1f} %), and the draft carries it: accepted.</source>
        <translation>El mejor token del modelo es «{token}» ({percent:.1f} %), y el borrador lo trae: aceptado.</translation>
    </message>
    <message>
        <source>The target&apos;s best token is “{token}” ({percent:.1f} %); the draft said “{drafted}”: corrected.</source>
        <translation>El mejor token del modelo es «{token}» ({percent:.1f} %); el borrador decía «{drafted}»: corregido.</translation>
    </message>
    <message>
        <source>With the noise of this place “{token}” ({percent:.1f} %) has the target&apos;s highest score, and the draft carries it: accepted.</source>
        <translation>Con el ruido de este lugar «{token}» ({percent:.1f} %) tiene la mejor puntuación del modelo, y el borrador lo trae: aceptado.</translation>
    </message>
    <message>
        <source>With the noise of this place “{token}” ({percent:.1f} %) has the target&apos;s highest score; the draft said “{drafted}”: corrected.</source>
        <translation>Con el ruido de este lugar «{token}» ({percent:.1f} %) tiene la mejor puntuación del modelo; el borrador decía «{drafted}»: corregido.</translation>
    </message>
    <message>
        <source>The whole draft survived; the target adds “{token}” from the same pass.</source>
        <translation>Todo el borrador sobrevivió; el modelo añade «{token}» en la misma pasada.</translation>
    </message>
    <message>
        <source>Nothing was drafted; the target writes “{token}”.</source>
        <translation>No hubo borrador; el modelo escribe «{token}».</translation>
    </message>
    <message>
        <source>The target gives “{token}” {target:.1f} %, the drafter {drafter:.1f} %: accepted with a chance of {chance:.1f} %. The coin fell at {coin:.1f} %: accepted.</source>
        <translation>El modelo da a «{token}» {target:.1f} %, el borrador {drafter:.1f} %: se acepta con una probabilidad de {chance:.1f} %. La moneda cayó en {coin:.1f} %: aceptado.</translation>
    </message>
    <message>
        <source>The target gives “{token}” {target:.1f} %, the drafter {drafter:.1f} %: accepted with a chance of {chance:.1f} %. The coin fell at {coin:.1f} %: refused, and what the target has beyond the drafter gives “{own}”.</source>
        <translation>El modelo da a «{token}» {target:.1f} %, el borrador {drafter:.1f} %: se acepta con una probabilidad de {chance:.1f} %. La moneda cayó en {coin:.1f} %: rechazado, y lo que el modelo tiene de más da «{own}».</translation>
    </message>
    <message>
        <source>“{token}” is a fixed candidate, so the target&apos;s own {target:.1f} % decide. The coin fell at {coin:.1f} %: accepted.</source>
        <translation>«{token}» es un candidato fijo, así que decide el {target:.1f} % del propio modelo. La moneda cayó en {coin:.1f} %: aceptado.</translation>
    </message>
    <message>
        <source>“{drafted}” was refused (the coin fell at {coin:.1f} %); what is left to the target gives “{own}”.</source>
        <translation>«{drafted}» se rechazó (la moneda cayó en {coin:.1f} %); lo que le queda al modelo da «{own}».</translation>
    </message>
    <message>
        <source>{field} is {value}; it must be {allowed}.</source>
        <translation>{field} es {value}; tiene que ser {allowed}.</translation>
    </message>
    <message>
        <source>A reply is still being written; press Stop first.</source>
        <translation>Todavía se está escribiendo una respuesta; pulsa antes Detener.</translation>
    </message>
    <message>
        <source>No model is loaded; choose one first.</source>
        <translation>No hay ningún modelo cargado; elige uno primero.</translation>
    </message>
    <message>
        <source>There is no model at {model}; give a folder, owner/name, or starter.</source>
        <translation>No hay ningún modelo en {model}; indica una carpeta, propietario/nombre o starter.</translation>
    </message>
    <message>
        <source>{model} is not installed; choose one of the list.</source>
        <translation>{model} no está instalado; elige uno de la lista.</translation>
    </message>
    <message>
        <source>{model} is also used by others, in {folder}; confirm to remove it from there as well ({size_mb:.0f} MB).</source>
        <translation>{model} también lo usan otros, en {folder}; confirma para quitarlo también de allí ({size_mb:.0f} MB).</translation>
    </message>
    <message>
        <source>{model} means several models; choose one of {choices}.</source>
        <translation>{model} designa varios modelos; elige uno de {choices}.</translation>
    </message>
    <message>
        <source>{model} holds no language model: {detail}.</source>
        <translation>{model} no contiene un modelo de lenguaje: {detail}.</translation>
    </message>
    <message>
        <source>{model} holds pickle weights only ({files}); choose a copy with safetensors.</source>
        <translation>{model} solo contiene pesos en pickle ({files}); elige una copia con safetensors.</translation>
    </message>
    <message>
        <source>{model} needs program code of its own, from {repository} at revision {revision}; allow it on the models page, or choose another model.</source>
        <translation>{model} necesita código propio, de {repository}, revisión {revision}; permítelo en la página de modelos o elige otro modelo.</translation>
    </message>
    <message>
        <source>{model} takes program code from another repository ({repository}), which Borrador never runs; choose another model.</source>
        <translation>{model} toma código de otro repositorio ({repository}), que Borrador nunca ejecuta; elige otro modelo.</translation>
    </message>
    <message>
        <source>{model} is quantized with {method}, which cannot be read here; choose a copy that is not quantized.</source>
        <translation>{model} está cuantizado con {method}, que aquí no se puede leer; elige una copia sin cuantizar.</translation>
    </message>
    <message>
        <source>{model} keeps a running state between tokens in a way that cannot be run here; choose another model.</source>
        <translation>{model} lleva un estado continuo entre tokens de un modo que aquí no se puede ejecutar; elige otro modelo.</translation>
    </message>
    <message>
        <source>The small-model drafter needs a smaller model of the same tokenizer; name it with --draft-model.</source>
        <translation>Para borradores de un modelo pequeño hace falta uno con el mismo tokenizador; indícalo con --draft-model.</translation>
    </message>
    <message>
        <source>{draft} cannot draft for {target}: their tokenizers differ, so the same number would mean another text; choose a smaller model of the same family.</source>
        <translation>{draft} no puede hacer borradores para {target}: sus tokenizadores son distintos y el mismo número significaría otro texto; elige un modelo más pequeño de la misma familia.</translation>
    </message>
    <message>
        <source>{draft} cannot draft for {target}: it keeps a running state that cannot be rolled back; choose another smaller model.</source>
        <translation>{draft} no puede hacer borradores para {target}: lleva un estado continuo que no se puede deshacer; elige otro modelo más pequeño.</translation>
    </message>
    <message>
        <source>{model} holds weights that its config.json has no place for ({names}); fetch it again.</source>
        <translation>{model} contiene pesos para los que su config.json no tiene sitio ({names}); descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>{model} and its config.json do not fit together: {detail}; fetch it again.</source>
        <translation>{model} y su config.json no encajan: {detail}; descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>{model} has rotary settings that transformers {version} does not support ({detail}); choose another model.</source>
        <translation>{model} tiene ajustes rotatorios que transformers {version} no admite ({detail}); elige otro modelo.</translation>
    </message>
    <message>
        <source>{model} needs a library that is not installed ({detail}); choose another model.</source>
        <translation>{model} necesita una biblioteca que no está instalada ({detail}); elige otro modelo.</translation>
    </message>
    <message>
        <source>{model} wants you signed in and its licence accepted at {page}; then put your token into the settings, or set HF_TOKEN.</source>
        <translation>{model} pide que inicies sesión y aceptes su licencia en {page}; después pon tu token en los ajustes o en HF_TOKEN.</translation>
    </message>
    <message>
        <source>The hub refuses your token; make a new one and put it into the settings, or set HF_TOKEN.</source>
        <translation>El repositorio rechaza tu token; crea otro y ponlo en los ajustes o en HF_TOKEN.</translation>
    </message>
    <message>
        <source>That is no token of the hub; copy it whole, it begins with hf_.</source>
        <translation>Eso no es un token del repositorio; cópialo entero, empieza por hf_.</translation>
    </message>
    <message>
        <source>The proxy {proxy} cannot be used ({detail}); check it in the settings, or empty it there.</source>
        <translation>No se puede usar el proxy {proxy} ({detail}); revísalo en los ajustes o bórralo allí.</translation>
    </message>
    <message>
        <source>The hub&apos;s certificate cannot be trusted ({detail}); check this machine&apos;s clock, and the proxy or virus scanner in between.</source>
        <translation>No se puede confiar en el certificado del repositorio ({detail}); revisa el reloj de este equipo y el proxy o antivirus que haya en medio.</translation>
    </message>
    <message>
        <source>{model} changed on the hub meanwhile; start the download again, and what still fits is kept.</source>
        <translation>{model} ha cambiado entretanto en el repositorio; empieza de nuevo la descarga, lo que aún sirve se conserva.</translation>
    </message>
    <message>
        <source>{model} holds GGUF files; choose one of them: {files}.</source>
        <translation>{model} contiene archivos GGUF; elige uno de ellos: {files}.</translation>
    </message>
    <message>
        <source>The offline switch is on; turn it off in the settings to search the hub.</source>
        <translation>El modo sin conexión está activo; desactívalo en los ajustes para buscar en el repositorio.</translation>
    </message>
    <message>
        <source>{model} holds GGUF files only; import one of them, or choose a copy with safetensors.</source>
        <translation>{model} solo contiene archivos GGUF; importa uno de ellos o elige una copia con safetensors.</translation>
    </message>
    <message>
        <source>{model} is not a whole GGUF file ({detail}); fetch it again.</source>
        <translation>{model} no es un archivo GGUF completo ({detail}); descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>{model} uses the quantization {kinds}, which cannot be read; try {instead}.</source>
        <translation>{model} usa la cuantización {kinds}, que no se puede leer; prueba con {instead}.</translation>
    </message>
    <message>
        <source>{model} is a GGUF file of the kind {architecture}, which transformers {version} cannot convert; choose a copy with safetensors.</source>
        <translation>{model} es un archivo GGUF del tipo {architecture}, que transformers {version} no puede convertir; elige una copia con safetensors.</translation>
    </message>
    <message>
        <source>{model} is one part of a set, and {files} is missing; put all parts into one folder.</source>
        <translation>{model} es una parte de un conjunto y falta {files}; pon todas las partes en una carpeta.</translation>
    </message>
    <message>
        <source>{model} is of the kind {architecture}, which transformers {version} does not know.</source>
        <translation>{model} es de la clase {architecture}, que transformers {version} no conoce.</translation>
    </message>
    <message>
        <source>Making the low-bit copy: {done} of {total} layers, about {left:.0f} s left</source>
        <translation>Haciendo la copia de pocos bits: {done} de {total} capas, quedan unos {left:.0f} s</translation>
    </message>
    <message>
        <source>Making the low-bit copy: the model writes texts to learn from, about {left:.0f} s left</source>
        <translation>Haciendo la copia de pocos bits: el modelo escribe textos de los que aprender, quedan unos {left:.0f} s</translation>
    </message>
    <message>
        <source>Measuring the low-bit copy</source>
        <translation>Midiendo la copia de pocos bits</translation>
    </message>
    <message>
        <source>{model} is not complete ({files} is missing or damaged); download it again.</source>
        <translation>{model} no está completo ({files} falta o está dañado); descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>{model} cannot be read: {detail}; download it again.</source>
        <translation>{model} no se puede leer: {detail}; descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>{model} lacks the weights {names}; download it again.</source>
        <translation>A {model} le faltan los pesos {names}; descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>The model hub cannot be reached ({detail}); check the network, or choose a model that is here.</source>
        <translation>No se llega al repositorio de modelos ({detail}); revisa la red o elige un modelo que ya esté aquí.</translation>
    </message>
    <message>
        <source>The hub knows no {model}; check the name, or sign in if it is private.</source>
        <translation>El repositorio no conoce {model}; revisa el nombre, o inicia sesión si es privado.</translation>
    </message>
    <message>
        <source>{model} has no revision {revision}.</source>
        <translation>{model} no tiene la revisión {revision}.</translation>
    </message>
    <message>
        <source>{model} asks you to accept its licence first, at {page}.</source>
        <translation>{model} pide que aceptes antes su licencia, en {page}.</translation>
    </message>
    <message>
        <source>Your token may not read {model}; give it that right, or choose another model.</source>
        <translation>Tu token no puede leer {model}; dale ese permiso o elige otro modelo.</translation>
    </message>
    <message>
        <source>The hub asks to wait; try again in some minutes, and what is here is kept.</source>
        <translation>El repositorio pide esperar; inténtalo dentro de unos minutos, lo que ya está aquí se conserva.</translation>
    </message>
    <message>
        <source>{model} is not here and the offline switch (HF_HUB_OFFLINE) is on; turn it off to fetch it.</source>
        <translation>{model} no está aquí y el modo sin conexión (HF_HUB_OFFLINE) está activo; desactívalo para descargarlo.</translation>
    </message>
    <message>
        <source>{file} of {model} arrived damaged twice; try again later.</source>
        <translation>{file} de {model} ha llegado dañado dos veces; inténtalo más tarde.</translation>
    </message>
    <message>
        <source>{model} holds two sets of weights that disagree ({one}, {other}); remove one of them.</source>
        <translation>{model} contiene dos juegos de pesos que no coinciden ({one}, {other}); quita uno de ellos.</translation>
    </message>
    <message>
        <source>{model} mixes files of different copies ({one} and {other} disagree); download it again.</source>
        <translation>{model} mezcla archivos de copias distintas ({one} y {other} no concuerdan); descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>{model} lacks {files} on the hub itself; choose another copy.</source>
        <translation>A {model} le falta {files} en el propio repositorio; elige otra copia.</translation>
    </message>
    <message>
        <source>{model} cannot be imported: {detail}; choose a copy with safetensors.</source>
        <translation>{model} no se puede importar: {detail}; elige una copia con safetensors.</translation>
    </message>
    <message>
        <source>{file} of {model} holds more than weights, or is damaged, so it was not opened; choose a copy with safetensors.</source>
        <translation>{file} de {model} contiene algo más que pesos o está dañado, así que no se ha abierto; elige una copia con safetensors.</translation>
    </message>
    <message>
        <source>{model} is damaged: {tensor} holds values that are no numbers; fetch it again.</source>
        <translation>{model} está dañado: {tensor} contiene valores que no son números; descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>Importing {model} needs about {needed_gb:.1f} GB of memory, and {free_gb:.1f} GB are free; close other programs, or choose a smaller model.</source>
        <translation>Importar {model} necesita unos {needed_gb:.1f} GB de memoria y hay {free_gb:.1f} GB libres; cierra otros programas o elige un modelo más pequeño.</translation>
    </message>
    <message>
        <source>Loading was stopped; what has been fetched is kept.</source>
        <translation>Se ha detenido la carga; lo ya descargado se conserva.</translation>
    </message>
    <message>
        <source>The disk with {folder} is full; free some space and try again, and what is here is kept.</source>
        <translation>El disco de {folder} está lleno; libera espacio e inténtalo de nuevo, lo que ya está aquí se conserva.</translation>
    </message>
    <message>
        <source>The hub answered with an error ({detail}); try again later.</source>
        <translation>El repositorio respondió con un error ({detail}); inténtalo más tarde.</translation>
    </message>
    <message>
        <source>{folder} needs {needed_mb:.0f} MB of free space and has {free_mb:.0f} MB; free some and try again.</source>
        <translation>{folder} necesita {needed_mb:.0f} MB libres y tiene {free_mb:.0f} MB; libera espacio e inténtalo de nuevo.</translation>
    </message>
    <message>
        <source>The low-bit copy needs about {needed_gb:.1f} GB of memory; {free_gb:.1f} GB are free.</source>
        <translation>La copia de pocos bits necesita unos {needed_gb:.1f} GB de memoria; hay {free_gb:.1f} GB libres.</translation>
    </message>
    <message>
        <source>The model needs about {needed_gb:.1f} GB of memory; {free_gb:.1f} GB are free.</source>
        <translation>El modelo necesita unos {needed_gb:.1f} GB de memoria; hay {free_gb:.1f} GB libres.</translation>
    </message>
    <message>
        <source>{model} needs about {needed_gb:.1f} GB of memory, and {free_gb:.1f} GB are free; {reason}.</source>
        <translation>{model} necesita unos {needed_gb:.1f} GB de memoria y hay {free_gb:.1f} GB libres; {reason}.</translation>
    </message>
    <message>
        <source>The memory is used up; choose a smaller context or a smaller model.</source>
        <translation>Se ha agotado la memoria; elige un contexto menor o un modelo más pequeño.</translation>
    </message>
    <message>
        <source>The memory is used up; {free_gb:.1f} of {total_gb:.1f} GB are free again, so choose a smaller context, a smaller model, or no low-bit copy.</source>
        <translation>Se ha agotado la memoria; vuelven a estar libres {free_gb:.1f} de {total_gb:.1f} GB, así que elige un contexto menor, un modelo más pequeño o ninguna copia de pocos bits.</translation>
    </message>
    <message>
        <source>The memory is used up: {asked_gb:.1f} GB more were needed, and {free_gb:.1f} of {total_gb:.1f} GB are free again; choose a smaller context, a smaller model, or no low-bit copy.</source>
        <translation>Se ha agotado la memoria: hacían falta {asked_gb:.1f} GB más y vuelven a estar libres {free_gb:.1f} de {total_gb:.1f} GB; elige un contexto menor, un modelo más pequeño o ninguna copia de pocos bits.</translation>
    </message>
    <message>
        <source>The memory is used up by {model} itself; {free_gb:.1f} of {total_gb:.1f} GB are free again, so {reason}.</source>
        <translation>El propio {model} agota la memoria; vuelven a estar libres {free_gb:.1f} de {total_gb:.1f} GB, así que {reason}.</translation>
    </message>
    <message>
        <source>When memory runs out, this is given up, in this order: the card&apos;s graphs, bits of the low-bit copy, the low-bit copy, half of the context. The model itself is never changed.</source>
        <translation>Cuando se agota la memoria, se renuncia, por este orden, a: los grafos de la tarjeta, bits de la copia de pocos bits, la copia de pocos bits, la mitad del contexto. El modelo mismo no se cambia nunca.</translation>
    </message>
    <message>
        <source>Memory ran out: steps run without graphs from now on, which is slower.</source>
        <translation>Se agotó la memoria: a partir de ahora los pasos van sin grafos, lo que es más lento.</translation>
    </message>
    <message>
        <source>Memory ran out: the low-bit copy is made with fewer bits ({recipe}).</source>
        <translation>Se agotó la memoria: la copia de pocos bits se hace con menos bits ({recipe}).</translation>
    </message>
    <message>
        <source>Memory ran out: the low-bit copy was let go.</source>
        <translation>Se agotó la memoria: se ha soltado la copia de pocos bits.</translation>
    </message>
    <message>
        <source>Memory ran out: the context holds {context} tokens from now on.</source>
        <translation>Se agotó la memoria: a partir de ahora caben {context} tokens en el contexto.</translation>
    </message>
    <message>
        <source>choose 8 bits for each weight, or a smaller model</source>
        <translation>elige 8 bits por peso o un modelo más pequeño</translation>
    </message>
    <message>
        <source>Borrador ended while it was loading {model}, which needs about {needed_gb:.1f} GB of the {free_gb:.1f} GB that were free; load it again, or choose a smaller one.</source>
        <translation>Borrador terminó mientras cargaba {model}, que necesita unos {needed_gb:.1f} GB de los {free_gb:.1f} GB que había libres; cárgalo de nuevo o elige uno más pequeño.</translation>
    </message>
    <message>
        <source>The starter model is not here; run the program once with a network: {command}</source>
        <translation>Falta el modelo inicial; ejecuta una vez el programa con red: {command}</translation>
    </message>
    <message>
        <source>The starter file does not have the right hash; it has been set aside. Start again to fetch it anew.</source>
        <translation>El archivo del modelo inicial no tiene la huella correcta y se ha apartado. Inicia de nuevo para volver a descargarlo.</translation>
    </message>
    <message>
        <source>The starter model could not be fetched ({detail}); check the network and start again.</source>
        <translation>No se pudo descargar el modelo inicial ({detail}); revisa la red e inicia de nuevo.</translation>
    </message>
    <message>
        <source>This Python has no pip, which fetches the starter model; run: {command}</source>
        <translation>Este Python no tiene pip, que descarga el modelo inicial; ejecuta: {command}</translation>
    </message>
    <message>
        <source>{folder} cannot be written ({detail}); change its permissions or choose another folder.</source>
        <translation>No se puede escribir en {folder} ({detail}); cambia sus permisos o elige otra carpeta.</translation>
    </message>
    <message>
        <source>The models folder {folder} is not there; connect its disk, or choose another folder for models.</source>
        <translation>La carpeta de modelos {folder} no está; conecta su disco o elige otra carpeta para los modelos.</translation>
    </message>
    <message>
        <source>{device} cannot be used: {detail}</source>
        <translation>No se puede usar {device}: {detail}</translation>
    </message>
    <message>
        <source>{drafter} is not a drafter; choose one of {allowed}.</source>
        <translation>{drafter} no es un modo de borrador; elige uno de {allowed}.</translation>
    </message>
    <message>
        <source>{drafter} cannot draft for {model}: {reason}</source>
        <translation>{drafter} no puede hacer el borrador para {model}: {reason}</translation>
    </message>
    <message>
        <source>This message has {size} tokens; the context holds {limit}. Shorten it or enlarge the context.</source>
        <translation>Este mensaje tiene {size} tokens; en el contexto caben {limit}. Acórtalo o amplía el contexto.</translation>
    </message>
    <message>
        <source>There is nothing to answer; write a message first.</source>
        <translation>No hay nada que responder; escribe antes un mensaje.</translation>
    </message>
    <message>
        <source>The chat template of {model} failed: {detail}</source>
        <translation>La plantilla de conversación de {model} falló: {detail}</translation>
    </message>
    <message>
        <source>The chat template of {model} ran over {seconds:.0f} seconds; choose another model.</source>
        <translation>La plantilla de conversación de {model} ha tardado más de {seconds:.0f} segundos; elige otro modelo.</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>Detenido.</translation>
    </message>
    <message>
        <source>{file} cannot be written: {detail}.</source>
        <translation>No se puede escribir {file}: {detail}.</translation>
    </message>
    <message>
        <source>K is {k}; in this mode it can be at most {largest}.</source>
        <translation>K es {k}; en este modo puede ser como mucho {largest}.</translation>
    </message>
    <message>
        <source>The text {text} is {count} tokens of this model; logit bias needs a text of one token.</source>
        <translation>El texto {text} son {count} tokens de este modelo; el sesgo necesita un texto de un solo token.</translation>
    </message>
    <message>
        <source>{file} cannot be read: {detail}</source>
        <translation>No se puede leer {file}: {detail}</translation>
    </message>
    <message>
        <source>Something went wrong ({detail}); the chat can go on.</source>
        <translation>Algo ha fallado ({detail}); la conversación puede seguir.</translation>
    </message>
</context>
</TS>
