"""The plugin that real brokers need to serve GetTelemetrySubscriptions and PushTelemetry."""

import subprocess
from pathlib import Path
from typing import Final

APIS: Final = ("get_telemetry_subscriptions", "push_telemetry")
"""Brokers advertise these only with a plugin."""

MOCK_CONFIG: Final = {"mockbroker.client.telemetry": "true"}
"""The same of a mock."""

_NAME: Final = "TelemetryReceiver"
_SOURCE: Final = """import java.util.List;
import java.util.Map;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;

@SuppressWarnings({"deprecation", "removal"})
public class TelemetryReceiver implements MetricsReporter, ClientTelemetry {
    public ClientTelemetryReceiver clientReceiver() { return (context, payload) -> { }; }
    public void configure(Map<String, ?> configs) { }
    public void init(List<KafkaMetric> metrics) { }
    public void metricChange(KafkaMetric metric) { }
    public void metricRemoval(KafkaMetric metric) { }
    public void close() { }
}
"""


def compiled(javac: str, jars: Path, folder: Path) -> dict[str, str]:
    """Compiles a plugin that drops what it gets into a folder of the class path; returns the configuration of
    brokers that use it. CalledProcessError."""
    source = folder / f"{_NAME}.java"
    source.write_text(_SOURCE)
    command = [javac, "-nowarn", "-proc:none", "-cp", f"{jars}/*", "-d", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return {"metric.reporters": _NAME}
